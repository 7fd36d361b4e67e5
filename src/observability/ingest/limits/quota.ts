import { AppError } from '../../../kernel/errors.ts';
import { createLargeCache } from '../../../kernel/memo.ts';
import type { RateCounter } from '../../../kernel/rate-counter.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import type { Signal } from '../wire/otlp-messages.ts';

interface Options {
  /** Counts for all processes. */
  counter: RateCounter;
  clock: Pick<Clock, 'monotonicMs'>;
}

/** What is limited. */
export interface Quota {
  organizationId: string;
  signal: Signal;
  unit: 'rows' | 'bytes';
  /** Per minute; undefined for no limit. */
  limit: number | undefined;
}

/** What this process knows about the minute of a quota. */
interface Account {
  /** By the clock of this process. */
  endsAt: number;
  /** The count of all processes, when the counter was last asked. */
  taken: number;
  /** What this process has taken and not used; negative if it used more. */
  unused: number;
  asking: Promise<void> | undefined;
}

const WINDOW_SECONDS = 60;
/** A process takes this part of a limit at a time. */
const SHARES = 50;
const MAX_ACCOUNTS = 50_000;

/**
 * The rows and bytes that an organization may send per minute, with all of its tokens and to all processes. A process takes shares of a limit
 * from the counter and uses them without asking again. The request that reaches a limit is accepted, so each process may exceed it by one
 * request and leaves at most one share unused.
 */
export function createQuotas({ counter, clock }: Options) {
  const accounts = createLargeCache<string, Account>(MAX_ACCOUNTS);

  function getAccount(id: string): Account {
    const known = accounts.get(id);
    if (known) return known;
    const account = { endsAt: Number.NEGATIVE_INFINITY, taken: 0, unused: 0, asking: undefined };
    accounts.set(id, account);
    return account;
  }

  const isOpen = ({ endsAt }: Account): boolean => endsAt > clock.monotonicMs();

  /** Fills the account up to one share. What was used too much is counted with it. */
  function ask(id: string, account: Account, limit: number): Promise<void> {
    account.asking ??= refill(id, account, limit).finally(() => {
      account.asking = undefined;
    });
    return account.asking;
  }

  async function refill(id: string, account: Account, limit: number): Promise<void> {
    const askedAt = clock.monotonicMs();
    if (!isOpen(account)) account.unused = 0;
    const count = Math.max(1, getShare(limit) - account.unused);
    const { taken, restMs } = await counter.add(id, count, WINDOW_SECONDS);
    const isSame = account.endsAt > askedAt && taken >= account.taken + count;
    const granted = Math.min(count, Math.max(0, limit - (taken - count)));
    account.endsAt = askedAt + restMs;
    account.taken = taken;
    account.unused = (isSame ? account.unused : 0) + granted;
  }

  /** Uses an amount. Waits for the counter if this process does not know whether the limit is reached. */
  async function use(quota: Quota, limit: number, amount: number): Promise<Account> {
    const id = toId(quota);
    for (;;) {
      const account = getAccount(id);
      if (isOpen(account)) {
        // In one step with the check: others that wait for the counter continue at the same time.
        if (account.unused > 0) {
          account.unused -= amount;
          return account;
        }
        if (account.taken >= limit) throw reached(quota, account.endsAt - clock.monotonicMs());
      }
      await ask(id, account, limit);
    }
  }

  return {
    /** Throws `too_many_requests` if the limit of this minute is reached. */
    async require(quota: Quota): Promise<void> {
      if (quota.limit !== undefined) await use(quota, quota.limit, 0);
    },

    /** Counts an amount, unless the limit of this minute is reached already. */
    async take(quota: Quota, amount: number): Promise<void> {
      const { limit } = quota;
      if (limit === undefined) return;
      const account = await use(quota, limit, amount);
      const isLow = account.unused < getShare(limit) / 4 && account.taken < limit;
      // In advance, and so that other processes know soon what was used too much. A failure is that of the next request that asks.
      if (isLow) ask(toId(quota), account, limit).catch(() => {});
    },
  };
}

const getShare = (limit: number): number => Math.max(1, Math.floor(limit / SHARES));

const toId = ({ organizationId, signal, unit }: Quota): string => `ingest ${unit} ${signal} ${organizationId}`;

const reached = ({ limit, unit, signal }: Quota, restMs: number): AppError =>
  new AppError('too_many_requests', `The organization may send ${limit} ${unit} of ${signal} per minute`, {
    retryAfterSeconds: Math.ceil(restMs / 1000),
  });
