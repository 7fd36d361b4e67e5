import { connect } from 'node:http2';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import type { Json } from './client.ts';
import { decodeResponse } from './otlp-encoding.ts';

const SERVICES: Record<Signal, string> = {
  logs: 'logs.v1.LogsService',
  traces: 'trace.v1.TraceService',
  metrics: 'metrics.v1.MetricsService',
};
const GZIP = 2;

const getPath = (signal: Signal) => `/opentelemetry.proto.collector.${SERVICES[signal]}/Export`;

interface Target {
  port: number | undefined;
  authorization?: string | undefined;
  /** The authority of the server's certificate. */
  ca?: string;
}

/** Sends a message with gzip. Resolves with the response, or with the code and details of the failure. */
export async function exportMessage(
  { port, authorization, ca }: Target,
  signal: Signal,
  message: Buffer,
): Promise<Json> {
  const client = new Client(
    `127.0.0.1:${port}`,
    ca ? credentials.createSsl(Buffer.from(ca)) : credentials.createInsecure(),
    {
      'grpc.default_compression_algorithm': GZIP,
    },
  );
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set('authorization', authorization);
  const same = (value: Buffer) => value;
  try {
    return await new Promise((resolve) => {
      const done = (error: ServiceError | null, response?: Buffer) =>
        resolve(error ? toFailure(error) : decodeResponse(signal, response as Buffer));
      client.makeUnaryRequest(getPath(signal), same, same, message, metadata, done);
    });
  } finally {
    client.close();
  }
}

/** With the seconds of a RetryInfo, if there is one. */
function toFailure({ code, details, metadata }: ServiceError): Json {
  const [status] = metadata.get('grpc-status-details-bin');
  const name = 'google.rpc.RetryInfo';
  const at = status instanceof Buffer ? status.indexOf(name) : -1;
  if (!(status instanceof Buffer) || at < 0) return { code, details };
  // Value of the Any, delay of the RetryInfo, seconds of the Duration: a tag and a length each.
  const [seconds] = status.subarray(at + name.length + 5);
  return { code, details, retryAfterSeconds: seconds };
}

/** Starts a call and sends nothing of its message. Resolves with the code of the failure. */
export async function startCall({ port, authorization = '' }: Target, signal: Signal): Promise<number> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject);
      const call = session.request({
        ':method': 'POST',
        ':path': getPath(signal),
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization,
      });
      call.on('error', reject);
      const read = (headers: Record<string, unknown>) => {
        if (headers['grpc-status'] !== undefined) resolve(Number(headers['grpc-status']));
      };
      call.on('response', read).on('trailers', read).resume();
    });
  } finally {
    session.destroy();
  }
}
