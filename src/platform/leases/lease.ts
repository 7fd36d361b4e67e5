import { hostname } from 'node:os';
import { newUuid } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import { createExpiry } from './expiry.ts';
import { createRestarts, type LeasedWork } from './leased-work.ts';
import { hasProcessEnded, type ProcessSpace, readProcessSpace } from './process-identity.ts';
import { fence, type LeaseSession, requireLease } from './session.ts';
import { deleteLease, findLease, findLockedLease, type Lease, putLease, renewLease } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  log: { warn(details: object, text: string): void };
  name: string;
  /** Identifies this process; random if omitted. */
  holder?: string;
  /** Called when the holder has changed. `other`: the lease of another process that holds it now. */
  onChange?(isHeld: boolean, other: Lease | undefined): void;
  /** False: the process of this holder may run where this process does not see it. */
  isVisible?(lease: Lease): boolean;
  /** Where this process runs; read from the system if omitted. */
  space?: ProcessSpace | undefined;
}

const RENEW_MS = 3 * SECOND_MS;
/** A lease that was not renewed for this long belongs to a process that has stopped. Another one takes it within 15 s. */
export const EXPIRE_MS = 10 * SECOND_MS;

export type LeaseHandle = ReturnType<typeof createLease>;

/**
 * Leader election: one process per store does this work. What the work remembers belongs to its session, so work that
 * starts again starts from the stored state; what it writes is refused once another process has the lease.
 */
export function createLease(options: Options) {
  const { state, clock, log, name, holder = newUuid(), onChange, isVisible } = options;
  const space = 'space' in options ? options.space : readProcessSpace();
  // Of this holder: an older version of the program leaves the text of the holder before it.
  const own = { name, holder, host: hostname(), pid: process.pid, process: JSON.stringify({ holder, ...space }) };
  const expiry = createExpiry(clock, EXPIRE_MS);
  const works: Pick<ReturnType<typeof createRestarts>, 'restart' | 'close'>[] = [];
  let session: ReturnType<typeof openSession> | undefined;
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
      if (session && clock.monotonicMs() - renewedAtMs >= EXPIRE_MS) change(undefined, undefined);
    },
  });

  function openSession(token: number) {
    const ending = new AbortController();
    const check = (tx: Db) => requireLease(tx, { name, holder, token });
    const isCurrent = () => !ending.signal.aborted;
    const opened: LeaseSession = {
      // The store knows better than this process: the work ends, and the lease may be acquired again.
      state: fence(state, check, () => {
        if (!isCurrent()) return;
        change(undefined, undefined);
        void loop.trigger();
      }),
      signal: ending.signal,
      isHeld: isCurrent,
      async confirm() {
        await confirm();
        return isCurrent();
      },
    };
    return { token, opened, end: () => ending.abort() };
  }

  function change(next: { token: number } | undefined, other: Lease | undefined): void {
    if (session?.token === next?.token && otherHolder === other?.holder) return;
    otherHolder = other?.holder;
    if (session?.token !== next?.token) {
      session?.end();
      session = next && openSession(next.token);
      for (const work of works) work.restart(session?.opened);
    }
    onChange?.(session !== undefined, other);
  }

  /** Renews or takes the lease. Returns the lease of another process that prevents it. */
  async function tryToHold(): Promise<Lease | undefined> {
    const startedAtMs = clock.monotonicMs();
    const renewedAt = await state.now();
    const lease = { ...own, renewedAt, token: session?.token ?? 0 };
    const isRenewed = session && (await state.writeNow((tx) => renewLease(tx, lease)));
    const { other, token } = isRenewed ? { other: undefined, token: lease.token } : await tryToTake(lease);
    isFailing = false;
    if (!other) renewedAtMs = startedAtMs;
    change(token === undefined ? undefined : { token }, other);
    return other;
  }

  async function tryToTake(lease: Lease): Promise<{ other?: Lease; token?: number }> {
    const current = await findLease(state.db, name);
    if (current && !canTake(current, lease.renewedAt)) return { other: current };
    return state.writeNow(async (tx) => {
      const locked = await findLockedLease(tx, name, 'exclusive');
      const isSame = locked?.holder === current?.holder && locked?.renewedAt === current?.renewedAt;
      if (locked && !isSame) return { other: locked };
      // At least the time: a lease that was released leaves no token to count from.
      const token = Math.max((locked?.token ?? 0) + 1, lease.renewedAt);
      await putLease(tx, { ...lease, token });
      return { token };
    });
  }

  const canTake = (lease: Lease, now: number): boolean =>
    lease.holder === holder ||
    expiry.isExpired(name, lease, now) ||
    (isVisible?.(lease) !== false && hasEnded(lease, space));

  async function confirm(): Promise<boolean> {
    if (session && clock.monotonicMs() - renewedAtMs >= EXPIRE_MS) await loop.trigger();
    return session !== undefined;
  }

  return {
    tryToHold,

    /** Takes the lease as soon as no other process holds it, and renews it until `close`. Resolves after the first attempt. */
    async start(): Promise<void> {
      await loop.trigger();
      loop.startAfterPause();
    },

    /** Starts the work whenever this process gets the lease, and closes it when the lease is lost. */
    run<W extends LeasedWork>(start: (session: LeaseSession) => W) {
      const work = createRestarts(start, ({ message: reason }) =>
        log.warn({ lease: name, reason }, 'failed to end work under a lease'),
      );
      works.push(work);
      work.restart(session?.opened);
      return {
        /** Undefined while this process does not hold the lease. */
        current: work.current,
        close: work.close,
      };
    },

    isHeld: (): boolean => session !== undefined,

    /** Undefined while this process does not hold the lease. */
    getSession: (): LeaseSession | undefined => session?.opened,

    /** Whether this process holds the lease now. Asks the store if the lease may have expired: the process was suspended. */
    confirm,

    /** The work ends first. */
    async close(): Promise<void> {
      // It is renewed until then.
      await Promise.all(works.map((work) => work.close()));
      await loop.close();
      if (!session) return;
      const { token, end } = session;
      session = undefined;
      end();
      await state
        .writeNow((tx) => deleteLease(tx, { name, holder, token }))
        .catch((error: Error) => log.warn({ lease: name, reason: error.message }, 'failed to release a lease'));
    },
  };
}

/** Whether the holder was a process of this machine that does not run any more. */
function hasEnded({ holder, host, pid, process: text }: Lease, own: ProcessSpace | undefined): boolean {
  if (host !== hostname() || text === '') return false;
  const known: Partial<ProcessSpace> & { holder?: string } = JSON.parse(text);
  const { bootId, namespace, startedAt } = known;
  if (known.holder !== holder || bootId === undefined || namespace === undefined || startedAt === undefined)
    return false;
  return hasProcessEnded(pid, { bootId, namespace, startedAt }, own);
}
