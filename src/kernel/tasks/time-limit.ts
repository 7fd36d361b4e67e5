/**
 * Aborts when `signal` does, or after `ms` with a `TimeoutError`. Use it instead of `AbortSignal.timeout`: on Node 20, a timeout
 * that only `AbortSignal.any` refers to may be collected before it fires. The listener keeps it.
 */
export function limitTime(ms: number, signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  timeout.addEventListener('abort', () => {}, { once: true });
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

/** Whether the time of `limitTime` was over. Node reports a request that a signal ended as an error with the reason as its cause. */
export const isTimeout = (error: unknown): boolean =>
  [error, (error as Error).cause].some((reason) => (reason as Error | undefined)?.name === 'TimeoutError');
