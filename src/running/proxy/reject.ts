import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, ENDPOINT_SECURITY_HEADERS } from './exceptions.ts';
import type { ProxyLimits } from './limits.ts';

/** Answers without ClickHouse. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer, limits: ProxyLimits): void {
  if (response.headersSent || response.destroyed) return;
  const length = status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  response.writeHead(status, { ...headers, ...ENDPOINT_SECURITY_HEADERS, ...length });
  response.end(response.req.method === 'HEAD' ? undefined : body);
  if (!response.req.complete) discardBody(response.req, limits);
}

/**
 * Reads the rest of a body, up to a limit: closing the connection while a client sends would make it miss the answer, and
 * reading on without a limit would let it occupy the connection.
 */
function discardBody(request: IncomingMessage, { maxRejectedBytes, rejectedMs }: ProxyLimits): void {
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), rejectedMs);
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxRejectedBytes) socket.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.once('error', () => socket.destroy());
  request.resume();
}
