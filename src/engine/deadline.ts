/** One signal for two reasons to stop waiting: somebody else's, and that it takes too long. */
export function createDeadline(longestMs: number, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let hasPassed = false;
  const timer = setTimeout(() => {
    hasPassed = true;
    controller.abort();
  }, longestMs);
  const forward = () => controller.abort();
  signal?.addEventListener('abort', forward, { once: true });
  return {
    signal: controller.signal,
    isTooLong: () => hasPassed,
    /** Lets go of the timer and of the other signal. */
    end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    },
  };
}
