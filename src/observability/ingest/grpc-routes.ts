import { setTimeout as delay } from 'node:timers/promises';
import type {
  experimental as Experimental,
  Metadata as GrpcMetadata,
  ServerInterceptor,
  ServerUnaryCall,
  ServiceDefinition,
  sendUnaryData,
} from '@grpc/grpc-js';
import { hasRole, INGESTERS } from '../../kernel/access/roles.ts';
import { AppError } from '../../kernel/errors.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { GuardOptions, Identity } from '../../platform/http/guard.ts';
import { toAppError } from '../../platform/http/responses/errors.ts';
import type { Certificate } from '../../platform/tls/certificate.ts';
import type { Ingest } from './ingest.ts';
import { encodeResponse, encodeRetryStatus, needsIngestToken, toGrpcCode } from './otlp-responses.ts';
import { MAX_REQUEST_BYTES } from './transcode.ts';
import { SIGNALS, type Signal } from './wire/otlp-messages.ts';

interface Options {
  ingest: Ingest;
  guard: Pick<GuardOptions, 'authenticate' | 'attempts'>;
  log: { error(details: object, text: string): void };
  /** Converts an error of a store into one that may be sent. */
  explain(error: unknown): unknown;
  address: { host: string; port: number };
  certificate?: Certificate | undefined;
}

type Call = ServerUnaryCall<Buffer, Buffer>;

/** How long a server that stops waits for calls. */
const MAX_DRAIN_MS = 5 * SECOND_MS;

const SERVICES: Record<Signal, string> = {
  logs: 'opentelemetry.proto.collector.logs.v1.LogsService',
  traces: 'opentelemetry.proto.collector.trace.v1.TraceService',
  metrics: 'opentelemetry.proto.collector.metrics.v1.MetricsService',
};

const asBytes = (bytes: Buffer): Buffer => bytes;

const toDefinition = (signal: Signal): ServiceDefinition => ({
  Export: {
    path: `/${SERVICES[signal]}/Export`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asBytes,
    requestDeserialize: asBytes,
    responseSerialize: asBytes,
    responseDeserialize: asBytes,
  },
});

/** OTLP/gRPC. Messages stay bytes: they take the same way as those of OTLP/HTTP. Loads the library on first use. */
export async function listenForGrpc({
  ingest,
  guard: { authenticate, attempts },
  log,
  explain,
  address: { host, port },
  certificate,
}: Options) {
  const { Metadata, Server, ServerCredentials, ServerInterceptingCall, experimental, logVerbosity, setLogVerbosity } =
    await import('@grpc/grpc-js');
  // Its errors are reported below; it would also print them on standard error, which has one JSON object per line.
  setLogVerbosity(logVerbosity.NONE);
  /** By the metadata of their calls. */
  const identities = new WeakMap<GrpcMetadata, Identity>();

  /** Before the message is read: it may be large, and larger after decompression. */
  async function admit(metadata: GrpcMetadata, peer: string): Promise<Identity> {
    const [authorization] = metadata.get('authorization');
    const header = authorization === undefined ? undefined : String(authorization);
    const identity = await attempts.run(toAddress(peer), header ?? '', () => authenticate(header));
    if (!hasRole(identity.roles, INGESTERS)) throw new AppError('forbidden', needsIngestToken());
    ingest.bodies.require();
    return identity;
  }

  const guard: ServerInterceptor = (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            admit(metadata, call.getPeer()).then(
              (identity) => {
                identities.set(metadata, identity);
                proceed(metadata);
              },
              (error: unknown) => call.sendStatus(toStatus('authentication', error)),
            );
          },
        }),
    });

  async function receive(signal: Signal, call: Call): Promise<Buffer> {
    const { metadata, request: body } = call;
    const identity = identities.get(metadata);
    if (!identity) throw new Error('a call was not authenticated');
    const { organizationId, credentialId: tokenId } = identity;
    const otlp = { signal, format: 'protobuf', compression: undefined, body } as const;
    const held = ingest.bodies.hold(body.length);
    try {
      return encodeResponse(
        signal,
        await ingest.receive({ organizationId, tokenId, isGone: () => call.cancelled }, otlp),
        'protobuf',
      );
    } finally {
      held.release();
    }
  }

  function toStatus(step: string, error: unknown) {
    const known = toAppError(explain(error), MAX_REQUEST_BYTES);
    if (known.code === 'internal')
      log.error({ operation: `otlp gRPC ${step}`, err: known.cause ?? known }, 'request failed');
    const metadata = new Metadata();
    const details = encodeRetryStatus(known);
    if (details) metadata.set('grpc-status-details-bin', details);
    return { code: toGrpcCode(known), details: known.message, metadata };
  }

  const server = new Server({ 'grpc.max_receive_message_length': MAX_REQUEST_BYTES, interceptors: [guard] });
  for (const signal of SIGNALS)
    server.addService(toDefinition(signal), {
      Export: (call: Call, respond: sendUnaryData<Buffer>) => {
        receive(signal, call).then(
          (response) => respond(null, response),
          (error: unknown) => respond(toStatus(signal, error)),
        );
      },
    });

  const credentials = certificate
    ? experimental.createCertificateProviderServerCredentials(createProvider(certificate), null, false)
    : ServerCredentials.createInsecure();
  const bound = await new Promise<number>((resolve, reject) => {
    const name = host.includes(':') ? `[${host}]` : host;
    server.bindAsync(`${name}:${port}`, credentials, (error, actual) =>
      error ? reject(toListenError(error, host, port)) : resolve(actual),
    );
  });
  return {
    port: bound,
    /** Finishes calls in progress. A client that keeps its call open does not delay the end of the server. */
    async close(): Promise<void> {
      const ended = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await Promise.race([ended, delay(MAX_DRAIN_MS, undefined, { ref: false })]);
      server.forceShutdown();
    },
  };
}

/** Gives the library the current certificate, and each one that replaces it. */
const createProvider = (certificate: Certificate): Experimental.CertificateProvider => ({
  addIdentityCertificateListener(listener) {
    const tell = ({ cert, key }: Certificate['options']) =>
      listener({ certificate: Buffer.from(cert), privateKey: Buffer.from(key) });
    // The library does not expect a call before this function returns.
    queueMicrotask(() => tell(certificate.options));
    certificate.follow({ setSecureContext: tell });
  },
  removeIdentityCertificateListener() {},
  addCaCertificateListener() {},
  removeCaCertificateListener() {},
});

/** `ipv4:127.0.0.1:50000`, `127.0.0.1:50000` or `[::1]:50000` → the address. */
const toAddress = (peer: string): string =>
  peer
    .replace(/^ipv[46]:/, '')
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '');

/** The error of the library has no code that the caller could explain. */
function toListenError(error: Error, host: string, port: number): Error {
  const code = /EADDRINUSE/.test(error.message) ? 'EADDRINUSE' : 'EACCES';
  return Object.assign(new Error(`cannot listen on ${host}:${port}: ${error.message}`), {
    code,
    port,
    syscall: 'listen',
  });
}
