import type { LeaseSession } from './session.ts';

/** Work that a session has started. */
export interface LeasedWork {
  /** No further pass starts, and the running one has ended. The work of the next session starts after that. */
  close(): Promise<void>;
}

/** Work that starts again with each session of a lease, from nothing but the stored state. */
export function createRestarts<W extends LeasedWork>(
  start: (session: LeaseSession) => W,
  onError: (error: Error) => void,
) {
  let current: W | undefined;
  let wanted: LeaseSession | undefined;
  let isClosed = false;
  /** One that ends the work before it. */
  let restarting: Promise<void> | undefined;

  async function replace(): Promise<void> {
    while (current) {
      const ending = current;
      current = undefined;
      await ending.close();
    }
    if (wanted && !wanted.signal.aborted) current = start(wanted);
  }

  /** Without a session, the work only ends. */
  function restart(session: LeaseSession | undefined): void {
    wanted = isClosed ? undefined : session;
    if (restarting !== undefined) return;
    // At once if nothing has to end first.
    if (!current) {
      if (wanted) current = start(wanted);
      return;
    }
    restarting = replace()
      .catch(onError)
      .finally(() => {
        restarting = undefined;
      });
  }

  return {
    current: (): W | undefined => current,
    restart,

    /** Ends the work; it does not start again. */
    async close(): Promise<void> {
      isClosed = true;
      restart(undefined);
      await restarting;
    },
  };
}
