import { createHmac } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { formatBytes } from '../../kernel/numbers/bytes.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import { createAllowedLookup } from './allowed-lookup.ts';
import { findUrlViolation, getHost, type Webhook } from './webhook.ts';

/** A GET is signed over its query string, a POST over its body. */
export interface SignedRequest {
  method: 'GET' | 'POST';
  /** Added to those of the URL. */
  query?: Readonly<Record<string, string>>;
  body?: string;
  /** The same for repeated requests, so that a receiver can recognize them. */
  deliveryId?: string;
  /** A longer response is an error. Left out, the response body is not read. */
  maxResponseBytes?: number;
  signal?: AbortSignal;
}

export interface SignedResponse {
  status: number;
  body: string;
}

export interface SignedRequests {
  /** Sends one request, without following redirects. The error contains no secrets. */
  send(webhook: Webhook, request: SignedRequest): Promise<SignedResponse>;
  close(): void;
}

interface Options {
  clock: Clock;
  allowPrivate: boolean;
  /** Reuses connections: for receivers that are called every few seconds. */
  keepAlive?: boolean;
}

const TIMEOUT_MS = 5000;
const MAX_ERROR_LENGTH = 200;
const MAX_SOCKETS = 16;

/** The reason for a failed request, as the API and the console show it. */
export function formatRequestError(error: unknown): string {
  const { message, code, errors, cause } = error as NodeJS.ErrnoException & { errors?: readonly Error[] };
  // Node reports a request that a signal ended as an AbortError with the reason as its cause.
  if ((cause as Error | undefined)?.name === 'TimeoutError')
    return `The receiver did not respond within ${TIMEOUT_MS / SECOND_MS} s`;
  // A name with several addresses fails with one error for each of them, and without a message.
  return (message || errors?.[0]?.message || code || 'The request failed').slice(0, MAX_ERROR_LENGTH);
}

export function requireSuccess({ url }: Webhook, { status }: SignedResponse): void {
  if (status < 200 || status > 299) throw new Error(`${getHost(new URL(url))} responded with ${status}`);
}

/** `t=1790000000,v1=…`: the HMAC-SHA256 of `t.text` in hex. The time lets receivers reject old requests. */
function formatSignature(secret: string, seconds: number, text: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${text}`).digest('hex')}`;
}

export function createSignedRequests({ clock, allowPrivate, keepAlive = false }: Options): SignedRequests {
  const lookup = createAllowedLookup(allowPrivate);
  const agents = keepAlive
    ? {
        'http:': new HttpAgent({ keepAlive, maxSockets: MAX_SOCKETS }),
        'https:': new HttpsAgent({ keepAlive, maxSockets: MAX_SOCKETS }),
      }
    : undefined;

  return {
    async send({ url, secret }, { method, query = {}, body = '', deliveryId, maxResponseBytes, signal }) {
      const violation = findUrlViolation(url, { allowPrivate });
      if (violation !== undefined) throw new Error(violation);
      const target = new URL(url);
      for (const [name, value] of Object.entries(query)) target.searchParams.append(name, value);
      const signed = method === 'GET' ? target.search : body;
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const options: RequestOptions = {
        method,
        agent: agents?.[target.protocol as keyof typeof agents] ?? false,
        lookup,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        headers: {
          'user-agent': 'Pilothouse',
          ...(method === 'POST' && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
          ...(deliveryId !== undefined && { 'x-pilothouse-delivery': deliveryId }),
          'x-pilothouse-signature': formatSignature(secret, Math.floor(clock.now() / SECOND_MS), signed),
        },
      };
      return exchange(target, body, options, maxResponseBytes);
    },

    close() {
      for (const agent of Object.values(agents ?? {})) agent.destroy();
    },
  };
}

function exchange(
  url: URL,
  body: string,
  options: RequestOptions,
  maxBytes: number | undefined,
): Promise<SignedResponse> {
  return new Promise((resolve, reject) => {
    const startRequest = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = startRequest(url, options, (response) => {
      const status = response.statusCode ?? 0;
      if (maxBytes === undefined) {
        resolve({ status, body: '' });
        response.destroy();
      } else readBody(response, maxBytes).then((text) => resolve({ status, body: text }), reject);
    });
    request.once('error', reject);
    request.end(body);
  });
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the response.
    if (bytes > maxBytes) throw new Error(`The response is larger than ${formatBytes(maxBytes)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
