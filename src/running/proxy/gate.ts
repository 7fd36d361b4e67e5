import { AppError } from '../../kernel/errors.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { Upstream } from '../../management/services/driver.ts';
import type { Exception } from './exceptions.ts';
import type { ProxyLimits } from './limits.ts';
import type { StatementKind } from './statement.ts';
import { createTarget, type Target } from './target.ts';

/** The query that a service was started for. */
export interface WakeCause {
  address: string;
  userAgent: string;
  username: string;
  kind: StatementKind;
  /** Epoch milliseconds. */
  at: number;
}

/** A query that waits to be sent. Exactly one of the functions is called, unless the query is withdrawn first. */
interface Waiter {
  cause: WakeCause;
  start(target: Target): void;
  fail(exception: Exception): void;
}

export interface Gate {
  /**
   * Starts a query at once or when the service is ready. `failed` is a target that did not answer: the query waits for
   * the next one. Returns a function that withdraws the query.
   */
  enter(waiter: Waiter, failed?: Target): () => void;
  setUpstream(upstream: Upstream | undefined): void;
  /** Queries wait until `release`. */
  hold(): void;
  release(): void;
  /** All waiting queries fail. */
  close(): void;
  countWaiting(): number;
  findLastWake(): WakeCause | undefined;
}

const unavailable = (text: string, retryAfterSeconds: number): Exception => ({
  name: 'ALL_CONNECTION_TRIES_FAILED',
  text,
  retryAfterSeconds,
});

interface Entry {
  waiter: Waiter;
  failed: Target | undefined;
  timer: NodeJS.Timeout;
}

const RETRY_AFTER_SECONDS = 5;
/** Between two attempts to start a service that queries wait for. Doubled after each attempt. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4 * SECOND_MS;
const stay = () => {};

/** Decides when the queries of a service are sent: not while it is stopped, starting or held. */
export function createGate(options: {
  limits: ProxyLimits;
  /**
   * Starts the service. A rejection with an AppError says why it was not started. The code `unavailable` means that another
   * attempt may succeed; any other, that only a command can start it.
   */
  wake(cause: WakeCause): Promise<void>;
  logFailure(error: unknown): void;
}): Gate {
  const { limits } = options;
  const entries = new Set<Entry>();
  let target: Target | undefined;
  let isHeld = false;
  /** The call that starts the service, until it has started or failed. */
  let waking: WakeCause | undefined;
  let lastWake: WakeCause | undefined;
  /** Why the last attempt failed, until the service has started. */
  let failure: string | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  /** Ends the pause before the next attempt. */
  let pause: NodeJS.Timeout | undefined;

  function leave(entry: Entry): void {
    clearTimeout(entry.timer);
    entries.delete(entry);
  }

  function failAll(exception: Exception): void {
    for (const entry of [...entries]) {
      leave(entry);
      entry.waiter.fail(exception);
    }
  }

  async function wake(cause: WakeCause): Promise<void> {
    waking = cause;
    lastWake = cause;
    try {
      await options.wake(cause);
    } catch (error) {
      // The service has started or was stopped again meanwhile: the failure is not about the queries that wait now.
      if (waking !== cause) return;
      waking = undefined;
      const isExplained = error instanceof AppError;
      if (!isExplained) options.logFailure(error);
      const text = isExplained ? error.message : 'The service could not be started';
      const seconds = isExplained ? error.retryAfterSeconds : undefined;
      if (!isExplained || error.code !== 'unavailable')
        return failAll(unavailable(text, seconds ?? RETRY_AFTER_SECONDS));
      failure = text;
      pause = setTimeout(() => {
        pause = undefined;
        wakeIfNeeded();
      }, pauseMs).unref();
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  /** The service has started, or its state is known in another way. */
  function endAttempts(): void {
    clearTimeout(pause);
    pause = undefined;
    waking = undefined;
    failure = undefined;
    pauseMs = FIRST_PAUSE_MS;
  }

  /** Wakes the service once for all queries that wait for it to start. */
  function wakeIfNeeded(): void {
    if (isHeld || waking || pause) return;
    for (const { waiter, failed } of entries)
      if (target === undefined || target === failed) return void wake(waiter.cause);
  }

  function admit(): void {
    if (isHeld || !target) return void wakeIfNeeded();
    for (const entry of [...entries]) {
      // A started query may have changed the state.
      if (isHeld || !target) return;
      if (entry.failed === target) continue;
      leave(entry);
      entry.waiter.start(target);
    }
    wakeIfNeeded();
  }

  return {
    enter(waiter, failed) {
      if (target && !isHeld && target !== failed) {
        waiter.start(target);
        return stay;
      }
      if (entries.size >= limits.maxWaiting) {
        waiter.fail({
          name: 'TOO_MANY_SIMULTANEOUS_QUERIES',
          text: `Too many queries are waiting for the service to start. Maximum: ${limits.maxWaiting}`,
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
        return stay;
      }
      const timer = setTimeout(() => {
        leave(entry);
        const seconds = Math.ceil(limits.waitMs / SECOND_MS);
        const reason = failure === undefined ? '' : `. The last attempt to start it failed: ${failure}`;
        waiter.fail(unavailable(`The service was not ready within ${seconds} s${reason}`, RETRY_AFTER_SECONDS));
      }, limits.waitMs);
      const entry: Entry = { waiter, failed, timer };
      entries.add(entry);
      wakeIfNeeded();
      return () => leave(entry);
    },

    setUpstream(upstream) {
      target?.close();
      target = upstream && createTarget(upstream);
      endAttempts();
      admit();
    },

    hold() {
      isHeld = true;
    },

    release() {
      isHeld = false;
      admit();
    },

    close() {
      target?.close();
      target = undefined;
      isHeld = true;
      endAttempts();
      failAll(unavailable('The endpoint of the service is being closed', RETRY_AFTER_SECONDS));
    },

    countWaiting: () => entries.size,
    findLastWake: () => lastWake,
  };
}
