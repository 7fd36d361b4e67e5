import { createHmac } from 'node:crypto';
import { type LookupAddress, lookup } from 'node:dns';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Clock, SECOND_MS } from '../../kernel/clock.ts';
import { findAddressViolation, findUrlViolation, getHost, type Webhook } from './budget.ts';

/** Throws when the receiver does not respond with 2xx. The error contains no secrets. */
export type SendWebhook = (webhook: Webhook, deliveryId: string, body: string) => Promise<void>;

const TIMEOUT_MS = 5000;
const MAX_ERROR_LENGTH = 200;

/** The reason for a failed attempt, as the API and the console show it. */
export function formatDeliveryError(error: unknown): string {
  const { name, message, code, errors } = error as NodeJS.ErrnoException & { errors?: readonly Error[] };
  if (name === 'TimeoutError') return `The receiver did not respond within ${TIMEOUT_MS / SECOND_MS} s`;
  // A name with several addresses fails with one error for each of them, and no message of its own.
  return (message || errors?.[0]?.message || code || 'The request failed').slice(0, MAX_ERROR_LENGTH);
}

/** `t=1790000000,v1=…`: the HMAC-SHA256 of `t.body` in hex. The time lets receivers reject old requests. */
function formatSignature(secret: string, seconds: number, body: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

export function createWebhookSender({ clock, allowPrivate }: { clock: Clock; allowPrivate: boolean }): SendWebhook {
  /** Resolves the name once and connects to the checked address, so DNS rebinding cannot bypass the check. */
  const lookUpAllowed: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const [first, ...others] = found.filter(
        ({ address }) => findAddressViolation(address, allowPrivate) === undefined,
      );
      if (!first) {
        const violation = findAddressViolation(found[0]?.address ?? '', allowPrivate);
        return callback(new Error(violation ?? 'The host name has no address'), '', 0);
      }
      if (options.all) (callback as unknown as AllAddressesCallback)(null, [first, ...others]);
      else callback(null, first.address, first.family);
    });
  };

  return async ({ url, secret }, deliveryId, body) => {
    const violation = findUrlViolation(url, { allowPrivate });
    if (violation !== undefined) throw new Error(violation);
    const target = new URL(url);
    const status = await send(target, body, {
      method: 'POST',
      agent: false,
      lookup: lookUpAllowed,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Pilothouse',
        'x-pilothouse-delivery': deliveryId,
        'x-pilothouse-signature': formatSignature(secret, Math.floor(clock.now() / SECOND_MS), body),
      },
    });
    if (status < 200 || status > 299) throw new Error(`${getHost(target)} responded with ${status}`);
  };
}

type AllAddressesCallback = (error: null, addresses: LookupAddress[]) => void;

/** Resolves with the status. Does not read the response body and does not follow redirects. */
function send(url: URL, body: string, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const startRequest = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = startRequest(url, options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.once('error', reject);
    request.end(body);
  });
}
