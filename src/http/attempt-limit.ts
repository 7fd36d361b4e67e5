import { LRUCache } from 'lru-cache';
import { addressBlock } from '../kernel/addresses.ts';
import { type Clock, MINUTE_MS } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { MaybePromise } from '../kernel/maybe-promise.ts';
import { memoize } from '../kernel/memo.ts';
import { createRateLimiter, type RateLimit, tooManyRequests } from './rate-limit.ts';

const FAILED_ATTEMPTS: RateLimit = { requests: 300, windowSeconds: 60 };
const ACCEPTED_MS = 60 * MINUTE_MS;
const MAX_ACCEPTED_BYTES = 8 * 1024 * 1024;
/** Estimated bytes of an entry, in addition to its key. */
const ENTRY_BYTES = 128;

const TOO_MANY_ATTEMPTS = 'Too many failed attempts from this address';

const toBlock = memoize(addressBlock);

export type AttemptLimit = ReturnType<typeof createAttemptLimit>;

/**
 * Limits failed authentication by client address (decision B7). Past the limit, a credential that was not accepted from
 * the address within the last hour is rejected unchecked: the response is the same for a right and a wrong guess.
 * Counted per process.
 */
export function createAttemptLimit(clock: Clock) {
  const failures = createRateLimiter(FAILED_ATTEMPTS, clock);
  /** By address and credential; `at` is the time of the last success. */
  const accepted = new LRUCache<string, { at: number }>({
    maxSize: MAX_ACCEPTED_BYTES,
    sizeCalculation: (_entry, key) => key.length + ENTRY_BYTES,
  });
  /** The credentials being checked, by address, and the number of requests with each. */
  const checking = new Map<string, Map<string, number>>();

  function accept(id: string, now: number): void {
    const entry = accepted.get(id);
    if (entry) entry.at = now;
    else accepted.set(id, { at: now });
  }

  /** Counts what is being checked, too: otherwise requests sent at the same time would pass the limit together. */
  function begin(block: string, credential: string): void {
    const credentials = checking.get(block) ?? new Map<string, number>();
    const requests = credentials.get(credential) ?? 0;
    const status = failures.peek(block);
    // Repeating a credential that is being checked is not another guess.
    if (status.remaining <= (requests > 0 ? 0 : credentials.size)) throw tooManyRequests(status, TOO_MANY_ATTEMPTS);
    credentials.set(credential, requests + 1);
    checking.set(block, credentials);
  }

  function end(block: string, credential: string): void {
    const credentials = checking.get(block);
    const requests = credentials?.get(credential) ?? 0;
    if (requests > 1) credentials?.set(credential, requests - 1);
    else credentials?.delete(credential);
    if (credentials?.size === 0) checking.delete(block);
  }

  return {
    /**
     * Runs `authenticate` unless the address is past its limit. `credential` is the text that the client sent, with its
     * secret; an `unauthorized` error counts as a failed attempt.
     */
    run<T>(address: string, credential: string, authenticate: () => MaybePromise<T>): MaybePromise<T> {
      const block = toBlock(address);
      const id = `${block} ${credential}`;
      const now = clock.monotonicMs();
      const known = accepted.get(id);
      const isKnown = known !== undefined && now - known.at < ACCEPTED_MS;
      if (!isKnown) begin(block, credential);

      const succeed = (result: T): T => {
        if (isKnown) known.at = now;
        else {
          end(block, credential);
          accept(id, now);
        }
        return result;
      };
      const fail = (error: unknown): never => {
        if (!isKnown) end(block, credential);
        if (error instanceof AppError && error.code === 'unauthorized') failures.take(block);
        throw error;
      };

      let result: MaybePromise<T>;
      try {
        result = authenticate();
      } catch (error) {
        return fail(error);
      }
      return result instanceof Promise ? result.then(succeed, fail) : succeed(result);
    },

    /** Records a credential that was just issued to a client. */
    accept: (address: string, credential: string): void =>
      accept(`${toBlock(address)} ${credential}`, clock.monotonicMs()),
  };
}
