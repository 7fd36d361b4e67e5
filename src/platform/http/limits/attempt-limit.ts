import { LRUCache } from 'lru-cache';
import { addressBlock } from '../../../kernel/access/addresses.ts';
import { AppError } from '../../../kernel/errors.ts';
import { memoize } from '../../../kernel/memo.ts';
import type { RateCounter } from '../../../kernel/rate-counter.ts';
import { type Clock, MINUTE_MS } from '../../../kernel/time/clock.ts';
import { createRateLimiter, tooManyRequests } from './rate-limit.ts';
import type { RateLimit } from './rate-window.ts';

const FAILED_ATTEMPTS: RateLimit = { requests: 300, windowSeconds: 60 };
const ACCEPTED_MS = 60 * MINUTE_MS;
const MAX_ACCEPTED_BYTES = 8 * 1024 * 1024;
/** Estimated bytes of an entry, in addition to the text of its credential. */
const ENTRY_BYTES = 128;

const TOO_MANY_ATTEMPTS = 'Too many failed attempts from this address';

const toIpv6Block = memoize(addressBlock);
const toBlock = (address: string): string => (address.includes(':') ? toIpv6Block(address) : address);

/** When a credential was last accepted, by address. */
type Acceptances = Map<string, { at: number }>;

/** A credential that is being checked for one address. */
interface Check {
  /** The number of requests with the credential. */
  requests: number;
  /** When an attempt was counted that no failure has used yet. */
  reservedAt: number | undefined;
  reserving: Promise<void> | undefined;
}

export type AttemptLimit = ReturnType<typeof createAttemptLimit>;

/**
 * Limits failed authentication by client address (decision B7). Past the limit, a credential that was not accepted from
 * the address within the last hour is rejected unchecked: the response is the same for a right and a wrong guess.
 * With a counter, failures are counted over all processes; accepted credentials are known to one process.
 */
export function createAttemptLimit(clock: Pick<Clock, 'monotonicMs'>, counter?: RateCounter) {
  const failures = createRateLimiter(FAILED_ATTEMPTS, clock, counter);
  // By credential first: its text was hashed for another cache already, so the lookup costs little on every request.
  const accepted = new LRUCache<string, Acceptances>({
    maxSize: MAX_ACCEPTED_BYTES,
    sizeCalculation: (acceptances, credential) => credential.length + acceptances.size * ENTRY_BYTES,
  });
  /** By address and credential. */
  const checking = new Map<string, Map<string, Check>>();

  function accept(block: string, credential: string, now: number): void {
    const acceptances: Acceptances = accepted.get(credential) ?? new Map();
    // Stored again, because its size has changed.
    accepted.set(credential, acceptances.set(block, { at: now }));
  }

  function join(block: string, credential: string): Check {
    const credentials = checking.get(block) ?? new Map<string, Check>();
    const check = credentials.get(credential) ?? { requests: 0, reservedAt: undefined, reserving: undefined };
    check.requests++;
    credentials.set(credential, check);
    checking.set(block, credentials);
    return check;
  }

  function leave(block: string, credential: string, check: Check): void {
    if (--check.requests > 0) return;
    if (check.reservedAt !== undefined) failures.giveBack(block, check.reservedAt);
    const credentials = checking.get(block);
    credentials?.delete(credential);
    if (credentials?.size === 0) checking.delete(block);
  }

  /**
   * Counts an attempt before its outcome is known: otherwise requests sent at the same time would pass the limit together.
   * Repeating a credential that is being checked is not another guess.
   */
  async function reserve(block: string, check: Check): Promise<void> {
    if (check.reservedAt !== undefined) return;
    check.reserving ??= take(block, check).finally(() => {
      check.reserving = undefined;
    });
    await check.reserving;
  }

  async function take(block: string, check: Check): Promise<void> {
    const status = await failures.take(block);
    if (!status.isAllowed) throw tooManyRequests(status, TOO_MANY_ATTEMPTS);
    check.reservedAt = clock.monotonicMs();
  }

  /** Each failure uses one attempt: the reserved one, or another. */
  function countFailure(error: unknown, block: string, check?: Check): void {
    if (!(error instanceof AppError) || error.code !== 'unauthorized') return;
    if (check?.reservedAt !== undefined) {
      check.reservedAt = undefined;
      return;
    }
    // The response does not wait for the counter, and does not depend on it.
    Promise.resolve(failures.take(block)).catch(() => {});
  }

  return {
    /**
     * Runs `authenticate` unless the address is past its limit. `credential` is the text that the client sent, with its
     * secret; an `unauthorized` error counts as a failed attempt.
     */
    async run<T>(address: string, credential: string, authenticate: () => T | Promise<T>): Promise<T> {
      const block = toBlock(address);
      const now = clock.monotonicMs();
      const known = accepted.get(credential)?.get(block);
      const check = known !== undefined && now - known.at < ACCEPTED_MS ? undefined : join(block, credential);
      try {
        if (check) await reserve(block, check);
        const result = await authenticate();
        if (known && !check) known.at = now;
        else accept(block, credential, now);
        return result;
      } catch (error) {
        countFailure(error, block, check);
        throw error;
      } finally {
        if (check) leave(block, credential, check);
      }
    },

    /** Records a credential that was just issued to a client. */
    accept: (address: string, credential: string): void => accept(toBlock(address), credential, clock.monotonicMs()),
  };
}
