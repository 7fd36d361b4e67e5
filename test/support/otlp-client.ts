import type { Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import type { Json } from './client.ts';
import { decodeResponse, decodeStatus, encodeRequest } from './otlp-encoding.ts';

export const PROTOBUF = 'application/x-protobuf';
export const JSON_TYPE = 'application/json';

/** Where requests go, and the value of their Authorization header. */
export interface Target {
  url: string;
  authorization?: string;
}

export interface OtlpResponse {
  status: number;
  headers: Headers;
  bytes: Buffer;
  /** The response or, for a failure, the google.rpc.Status: `code` and `message`. */
  json: Json;
}

/** Sends bytes to `/v1/…` below the URL. */
export async function sendBytes(
  { url, authorization }: Target,
  signal: Signal,
  body: Uint8Array | string,
  headers: Record<string, string> = { 'content-type': PROTOBUF },
): Promise<OtlpResponse> {
  const response = await fetch(`${url}/v1/${signal}`, {
    method: 'POST',
    headers: { ...(authorization !== undefined && { authorization }), ...headers },
    body: body as RequestInit['body'],
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, json: decode(signal, response, bytes) };
}

function decode(signal: Signal, { status, headers }: Response, bytes: Buffer): Json {
  const type = headers.get('content-type')?.split(';', 1)[0];
  if (type === JSON_TYPE) return JSON.parse(bytes.toString());
  if (type !== PROTOBUF) return undefined;
  return status === 200 ? decodeResponse(signal, bytes) : decodeStatus(bytes);
}

/** Sends a request that is given as OTLP/JSON, in one of the two formats. */
export const send = (
  target: Target,
  signal: Signal,
  request: object,
  format: 'protobuf' | 'json' = 'protobuf',
): Promise<OtlpResponse> =>
  format === 'json'
    ? sendBytes(target, signal, JSON.stringify(request), { 'content-type': JSON_TYPE })
    : sendBytes(target, signal, encodeRequest(signal, request));
