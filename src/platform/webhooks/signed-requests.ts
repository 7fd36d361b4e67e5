import { createHmac, randomBytes } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { readLimited } from '../../kernel/read-limited.ts';
import { isTimeout, limitTime } from '../../kernel/tasks/time-limit.ts';
import { cutCharacters } from '../../kernel/text.ts';
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
  /** Added to ours; they may replace the content type. */
  headers?: Readonly<Record<string, string>>;
  /** A longer response is an error. Left out, the response body is not read. */
  maxResponseBytes?: number;
  /** A longer response is cut, and one that breaks off is what was received until then. */
  isCut?: boolean;
  /** 5 seconds if omitted. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal;
}

export interface SignedResponse {
  status: number;
  body: string;
  retryAfter?: string | undefined;
}

/** Without a secret, requests are not signed. */
interface Receiver {
  url: string;
  secret?: string | undefined;
}

interface SignedRequests {
  /** Sends one request, without following redirects. The error contains no secrets. */
  send(receiver: Receiver, request: SignedRequest): Promise<SignedResponse>;
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
export function formatRequestError(error: unknown, timeoutMs = TIMEOUT_MS): string {
  const { message, code, errors } = error as NodeJS.ErrnoException & { errors?: readonly Error[] };
  if (isTimeout(error)) return `The receiver did not respond within ${timeoutMs / SECOND_MS} s`;
  // A name with several addresses fails with one error for each of them, and without a message.
  return cutCharacters(message || errors?.[0]?.message || code || 'The request failed', MAX_ERROR_LENGTH);
}

export function requireSuccess({ url }: Webhook, { status }: SignedResponse): void {
  if (status < 200 || status > 299) throw new Error(`${getHost(new URL(url))} responded with status ${status}`);
}

/** `t=1790000000,v1=…`: the HMAC-SHA256 of `t.text` in hex. The time lets receivers reject old requests. */
function formatSignature(secret: string, seconds: number, text: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${text}`).digest('hex')}`;
}

/** Secrets of this form also sign as https://www.standardwebhooks.com says: the rest is the key, in base64. */
const STANDARD_PREFIX = 'whsec_';
const STANDARD_SECRET_BYTES = 32;

export const newStandardSecret = (): string => STANDARD_PREFIX + randomBytes(STANDARD_SECRET_BYTES).toString('base64');

/** Also of other systems: the standard allows 24 to 64 bytes. */
export function isStandardSecret(text: string): boolean {
  const encoded = text.startsWith(STANDARD_PREFIX) ? text.slice(STANDARD_PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded;
}

function createSignatureHeaders(
  secret: string,
  { seconds, text, deliveryId }: { seconds: number; text: string; deliveryId: string | undefined },
): Record<string, string> {
  const own = { 'x-pilothouse-signature': formatSignature(secret, seconds, text) };
  if (deliveryId === undefined || !secret.startsWith(STANDARD_PREFIX)) return own;
  const key = Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${deliveryId}.${seconds}.${text}`).digest('base64');
  return {
    ...own,
    'webhook-id': deliveryId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
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
    async send({ url, secret }, request) {
      const {
        method,
        query = {},
        body = '',
        deliveryId,
        headers,
        maxResponseBytes,
        isCut = false,
        timeoutMs = TIMEOUT_MS,
        signal,
      } = request;
      const violation = findUrlViolation(url, { allowPrivate });
      if (violation !== undefined) throw new Error(violation);
      const target = new URL(url);
      for (const [name, value] of Object.entries(query)) target.searchParams.append(name, value);
      const signed = method === 'GET' ? target.search : body;
      const seconds = Math.floor(clock.now() / SECOND_MS);
      const limited = limitTime(timeoutMs, signal);
      const options: RequestOptions = {
        method,
        agent: agents?.[target.protocol as keyof typeof agents] ?? false,
        lookup,
        signal: limited,
        headers: {
          'user-agent': 'Pilothouse',
          ...(method === 'POST' && { 'content-type': 'application/json' }),
          ...headers,
          ...(method === 'POST' && { 'content-length': Buffer.byteLength(body) }),
          ...(deliveryId !== undefined && { 'x-pilothouse-delivery': deliveryId }),
          ...(secret !== undefined && createSignatureHeaders(secret, { seconds, text: signed, deliveryId })),
        },
      };
      const reading =
        maxResponseBytes === undefined ? undefined : { maxBytes: maxResponseBytes, isCut, signal: limited };
      return exchange(target, body, options, reading);
    },

    close() {
      for (const agent of Object.values(agents ?? {})) agent.destroy();
    },
  };
}

/** How much of a response is read. */
interface Reading {
  maxBytes: number;
  isCut: boolean;
  signal: AbortSignal;
}

function exchange(
  url: URL,
  body: string,
  options: RequestOptions,
  reading: Reading | undefined,
): Promise<SignedResponse> {
  return new Promise((resolve, reject) => {
    const startRequest = url.protocol === 'https:' ? httpsRequest : httpRequest;
    let isAnswered = false;
    const request = startRequest(url, options, (response) => {
      isAnswered = true;
      const status = response.statusCode ?? 0;
      const retryAfter = response.headers['retry-after'];
      if (reading === undefined) {
        resolve({ status, body: '', retryAfter });
        response.destroy();
      } else
        readLimited(response, { ...reading, sender: url.host }).then(
          (content) => resolve({ status, body: content.toString('utf8'), retryAfter }),
          reject,
        );
    });
    request.on('error', (error) => {
      if (!isAnswered || !reading?.isCut) reject(error);
    });
    request.end(body);
  });
}
