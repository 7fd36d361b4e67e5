import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { newUuid } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { State } from '../../platform/state/state.ts';
import { findLease, type Lease, releaseLease, renewLease, takeLease } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  name: string;
  /** Called when this process becomes or stops being the holder. */
  onChange(isHeld: boolean): void;
}

const RENEW_MS = 3 * SECOND_MS;
/** A lease that was not renewed for this long belongs to a process that has stopped. Another one takes it within 15 s. */
const EXPIRE_MS = 10 * SECOND_MS;

/** Work that only one of the processes on a store does. Times are those of the store's clock. */
export function createLease({ state, clock, log, name, onChange }: Options) {
  const own = { name, holder: newUuid(), host: hostname(), pid: process.pid };
  let isHeld = false;
  let renewedAtMs = 0;
  let isFailing = false;

  const loop = createBackgroundLoop({
    run: pass,
    everyMs: RENEW_MS,
    onError(error) {
      if (!isFailing) log.warn({ lease: name, reason: (error as Error).message }, 'failed to renew a lease');
      isFailing = true;
      // Another process may take the lease from now on.
      if (isHeld && clock.monotonicMs() - renewedAtMs >= EXPIRE_MS) change(false);
    },
  });

  function change(next: boolean): void {
    if (isHeld === next) return;
    isHeld = next;
    onChange(next);
  }

  async function pass(): Promise<void> {
    const startedAtMs = clock.monotonicMs();
    const lease = { ...own, renewedAt: await state.now() };
    const isRenewed = isHeld && (await state.write((tx) => renewLease(tx, lease)));
    const isTaken = isRenewed || (await tryToTake(lease));
    isFailing = false;
    if (isTaken) renewedAtMs = startedAtMs;
    change(isTaken);
  }

  async function tryToTake(lease: Lease): Promise<boolean> {
    const current = await findLease(state.db, name);
    if (current && lease.renewedAt - current.renewedAt < EXPIRE_MS && !hasEnded(current)) return false;
    return state.write((tx) => takeLease(tx, lease, current));
  }

  return {
    /** Takes the lease as soon as no other process holds it. Resolves after the first attempt. */
    async start(): Promise<void> {
      await loop.trigger();
      loop.startAfterPause();
    },

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
        .write((tx) => releaseLease(tx, name, own.holder))
        .catch((error: Error) => log.warn({ lease: name, reason: error.message }, 'failed to release a lease'));
    },
  };
}

/** Whether the holder was a process of this machine that does not run any more. */
function hasEnded({ host, pid }: Lease): boolean {
  if (host !== hostname() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
