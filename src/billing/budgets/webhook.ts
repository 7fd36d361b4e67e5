import { createHmac } from 'node:crypto';
import { type LookupAddress, lookup } from 'node:dns';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Clock, SECOND_MS } from '../../kernel/clock.ts';
import { hostOf, reachMistake, type Webhook, webhookMistake } from './budget.ts';

export type Post = ReturnType<typeof createPost>;

const TIMEOUT_MS = 5000;

/** `t=1790000000,v1=…`: the HMAC-SHA256 of `t.body` under the secret, in hex. The time lets a receiver refuse old ones. */
export function signature(secret: string, seconds: number, body: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** Sends one notice; throws why it could not, in words that hold no secret. */
export function createPost({ clock, allowPrivate }: { clock: Clock; allowPrivate: boolean }) {
  /** The address that was judged is the one that is called: no name is looked up twice. */
  const judgedLookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const [first, ...others] = found.filter(({ address }) => reachMistake(address, allowPrivate) === undefined);
      if (!first) {
        const mistake = reachMistake(found[0]?.address ?? '', allowPrivate);
        return callback(new Error(mistake ?? 'The name has no address'), '', 0);
      }
      if (options.all) (callback as unknown as AllAddresses)(null, [first, ...others]);
      else callback(null, first.address, first.family);
    });
  };

  return async ({ url, secret }: Webhook, deliveryId: string, body: string): Promise<void> => {
    const mistake = webhookMistake(url, { allowPrivate });
    if (mistake !== undefined) throw new Error(mistake);
    const target = new URL(url);
    const status = await statusOf(target, body, {
      method: 'POST',
      agent: false,
      lookup: judgedLookup,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Pilothouse',
        'x-pilothouse-delivery': deliveryId,
        'x-pilothouse-signature': signature(secret, Math.floor(clock.now() / SECOND_MS), body),
      },
    });
    if (status < 200 || status > 299) throw new Error(`${hostOf(target)} answered ${status}`);
  };
}

type AllAddresses = (error: null, addresses: LookupAddress[]) => void;

/** Only the status counts: whatever follows is not read, and a redirection is not followed. */
function statusOf(url: URL, body: string, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.once('error', reject);
    request.end(body);
  });
}
