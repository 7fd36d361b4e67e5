import { finished, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest, preParsingAsyncHookHandler } from 'fastify';
import { INGESTERS } from '../../kernel/access/roles.ts';
import { AppError } from '../../kernel/errors.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { acceptRawBodies } from '../../platform/http/requests/body.ts';
import { type Routes, withoutBodyValidation } from '../../platform/http/requests/validation.ts';
import type { Ingest } from './ingest.ts';
import { encodeResponse, encodeStatus } from './otlp-responses.ts';
import { COMPRESSIONS, type Compression, MAX_REQUEST_BYTES, type OtlpRequest } from './transcode.ts';
import { SIGNALS, type Signal } from './wire/otlp-messages.ts';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';

const OPERATIONS: Record<Signal, string> = { logs: 'otlpLogs', traces: 'otlpTraces', metrics: 'otlpMetrics' };
const PATHS = SIGNALS.map((signal) => `/otlp/v1/${signal}`).join(', ');

type Format = OtlpRequest['format'];

/** OTLP/HTTP: `/otlp/v1/logs` and `/v1/logs`, because SDKs append the second path to the endpoint that they are given. */
export function otlpRoutes({ ingest, ownsEveryPath }: { ingest: Ingest; ownsEveryPath: boolean }): Routes {
  return (app) => {
    acceptRawBodies(app, [PROTOBUF, JSON_TYPE]);

    /** After authentication, before the body is read. */
    const limitBodies: preParsingAsyncHookHandler = async (request, reply, body) => {
      const announced = Number(request.headers['content-length'] ?? 0);
      // A body that is too large by itself is not read.
      if (announced > MAX_REQUEST_BYTES) return body;
      ingest.bodies.require(announced);
      const held = ingest.bodies.hold(0);
      finished(reply.raw, held.release);
      return ingest.bodies.holdStream(body as Readable, held);
    };

    for (const signal of SIGNALS)
      for (const prefix of ['/otlp/v1', '/v1'])
        app.post(
          `${prefix}/${signal}`,
          {
            config: { operation: OPERATIONS[signal], roles: INGESTERS, renderFailure },
            bodyLimit: MAX_REQUEST_BYTES,
            validatorCompiler: withoutBodyValidation,
            preParsing: limitBodies,
            // OTLP has a specification of its own: other formats, and errors that are google.rpc.Status.
            schema: { hide: true },
          },
          async (request, reply) => {
            const { organizationId, credentialId: tokenId } = getIdentity(request);
            const format = readFormat(request);
            const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
            const isGone = () => reply.raw.destroyed || request.raw.socket.destroyed;
            const otlp = { signal, format, compression: readCompression(request), body };
            return sendBytes(
              reply,
              format,
              encodeResponse(signal, await ingest.receive({ organizationId, tokenId, isGone }, otlp), format),
            );
          },
        );

    // A variable such as OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is used as it is: without a path, the data goes to `/`.
    for (const path of ownsEveryPath ? ['/*'] : ['/', '/otlp', '/otlp/*'])
      app.post(
        path,
        {
          config: { operation: 'otlpUnknown', renderFailure },
          schema: { hide: true },
          // Before the body is read: it may be large, and the sender is not known.
          async onRequest(request) {
            throw new AppError(
              'not_found',
              `${request.url.slice(0, 200)} does not accept telemetry; send it to ${PATHS}`,
            );
          },
        },
        async () => undefined,
      );
  };
}

const readFormat = (request: FastifyRequest): Format =>
  request.headers['content-type']?.toLowerCase().startsWith(JSON_TYPE) ? 'json' : 'protobuf';

function readCompression(request: FastifyRequest): Compression | undefined {
  const name = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (name === 'identity') return undefined;
  const known = COMPRESSIONS.find((compression) => compression === name);
  if (known) return known;
  throw new AppError(
    'unsupported_media_type',
    `The content-encoding must be ${COMPRESSIONS.join(', ')} or identity, not ${name.slice(0, 32)}`,
  );
}

function sendBytes(reply: FastifyReply, format: Format, bytes: Buffer): FastifyReply {
  return reply.type(format === 'json' ? JSON_TYPE : PROTOBUF).send(bytes);
}

/** Errors have the format of the request. */
function renderFailure(request: FastifyRequest, error: AppError): { type: string; body: Buffer } {
  const format = readFormat(request);
  return { type: format === 'json' ? JSON_TYPE : PROTOBUF, body: encodeStatus(error, format) };
}
