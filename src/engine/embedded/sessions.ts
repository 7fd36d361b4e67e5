import type { Session } from 'chdb';
import type { Role } from './configuration.ts';
import { EngineException } from './exceptions.ts';

interface Options {
  role: Role;
  openSession(): Session;
  /** How many may be in use at the same time. */
  size: number;
  /** How many may wait for one. */
  maxWaiting: number;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Opened and given their role ahead of time, so that a query need not wait for it. */
const PREPARED = 2;

/**
 * Sessions for one role. Each is used once: whatever a query sets stays on its session, and a session that is read-only
 * stays so. Opening one takes a fraction of a millisecond.
 */
export function createSessions({ role, openSession, size, maxWaiting }: Options) {
  const prepared: Promise<Session>[] = [];
  const waiting: (() => void)[] = [];
  let inUse = 0;
  let isClosed = false;

  async function prepare(): Promise<Session> {
    const session = openSession();
    try {
      await session.queryAsync(`SET ROLE ${role}`);
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  function prepareSome(): void {
    while (!isClosed && prepared.length < PREPARED) {
      const session = prepare();
      session.catch(() => {});
      prepared.push(session);
    }
  }

  async function enter(signal: AbortSignal): Promise<void> {
    if (inUse < size) {
      inUse++;
      return;
    }
    if (waiting.length >= maxWaiting)
      throw new EngineException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many queries are waiting.');
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(turn), 1);
        reject(new EngineException(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled.'));
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(turn);
    });
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else inUse--;
  }

  prepareSome();
  return {
    /** Waits for its turn, unless the signal comes first. */
    async use<T>(signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
      await enter(signal);
      try {
        const session = await (prepared.shift() ?? prepare());
        try {
          return await work(session);
        } finally {
          session.close();
          prepareSome();
        }
      } finally {
        leave();
      }
    },
    async close(): Promise<void> {
      isClosed = true;
      for (const session of await Promise.allSettled(prepared.splice(0)))
        if (session.status === 'fulfilled') session.value.close();
    },
  };
}
