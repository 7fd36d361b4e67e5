import { hostname } from 'node:os';
import { newUuid } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { State } from '../state/state.ts';
import { createExpiry } from './expiry.ts';
import { deleteLease, findLease, findLockedLease, type Lease, putLease, renewLease } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  log: { warn(details: object, text: string): void };
  name: string;
  /** Identifies this process; random if omitted. */
  holder?: string;
  /** Called when the holder has changed. `other`: the lease of another process that holds it now. */
  onChange(isHeld: boolean, other: Lease | undefined): void;
  /** False: the process of this holder may run where this process does not see it. */
  isVisible?(lease: Lease): boolean;
}

const RENEW_MS = 3 * SECOND_MS;
/** A lease that was not renewed for this long belongs to a process that has stopped. Another one takes it within 15 s. */
export const EXPIRE_MS = 10 * SECOND_MS;

/** For work that needs a lease and does not manage it. */
export type LeaseView = Pick<ReturnType<typeof createLease>, 'isHeld' | 'confirm'>;

/** Leader election: one process per store does this work. */
export function createLease({ state, clock, log, name, holder = newUuid(), onChange, isVisible }: Options) {
  const own = { name, holder, host: hostname(), pid: process.pid };
  const expiry = createExpiry(clock, EXPIRE_MS);
  let isHeld = false;
  let otherHolder: string | undefined;
  let renewedAtMs = 0;
  let isFailing = false;

  const loop = createBackgroundLoop({
    run: async () => void (await tryToHold()),
    everyMs: RENEW_MS,
    onError(error) {
      if (!isFailing) log.warn({ lease: name, reason: (error as Error).message }, 'failed to renew a lease');
      isFailing = true;
      // Another process may take the lease from now on.
      if (isHeld && clock.monotonicMs() - renewedAtMs >= EXPIRE_MS) change(false, undefined);
    },
  });

  function change(next: boolean, other: Lease | undefined): void {
    if (isHeld === next && otherHolder === other?.holder) return;
    isHeld = next;
    otherHolder = other?.holder;
    onChange(next, other);
  }

  /** Renews or takes the lease. Returns the lease of another process that prevents it. */
  async function tryToHold(): Promise<Lease | undefined> {
    const startedAtMs = clock.monotonicMs();
    const lease = { ...own, renewedAt: await state.now() };
    const isRenewed = isHeld && (await state.writeNow((tx) => renewLease(tx, lease)));
    const other = isRenewed ? undefined : await tryToTake(lease);
    isFailing = false;
    if (!other) renewedAtMs = startedAtMs;
    change(other === undefined, other);
    return other;
  }

  async function tryToTake(lease: Lease): Promise<Lease | undefined> {
    const current = await findLease(state.db, name);
    if (current && !canTake(current, lease.renewedAt)) return current;
    return state.writeNow(async (tx) => {
      const locked = await findLockedLease(tx, name, 'exclusive');
      const isSame = locked?.holder === current?.holder && locked?.renewedAt === current?.renewedAt;
      if (locked && !isSame) return locked;
      await putLease(tx, lease);
      return undefined;
    });
  }

  const canTake = (lease: Lease, now: number): boolean =>
    lease.holder === holder ||
    expiry.isExpired(name, lease, now) ||
    (isVisible?.(lease) !== false && hasEnded(lease, now));

  return {
    tryToHold,

    /** Takes the lease as soon as no other process holds it, and renews it until `close`. Resolves after the first attempt. */
    async start(): Promise<void> {
      await loop.trigger();
      loop.startAfterPause();
    },

    isHeld: (): boolean => isHeld,

    /** Whether this process holds the lease now. Asks the store if the lease may have expired: the process was suspended. */
    async confirm(): Promise<boolean> {
      if (isHeld && clock.monotonicMs() - renewedAtMs >= EXPIRE_MS) await loop.trigger();
      return isHeld;
    },

    async close(): Promise<void> {
      await loop.close();
      if (!isHeld) return;
      isHeld = false;
      await state
        .writeNow((tx) => deleteLease(tx, name, holder))
        .catch((error: Error) => log.warn({ lease: name, reason: error.message }, 'failed to release a lease'));
    },
  };
}

/** Whether the holder was a process of this machine that does not run any more. */
function hasEnded({ host, pid, renewedAt }: Lease, now: number): boolean {
  if (host !== hostname()) return false;
  // In a container every process of the server may have the same id. An earlier one did not renew since this one started.
  if (pid === process.pid) return now - renewedAt > process.uptime() * SECOND_MS;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
