/** One signal for two reasons to stop waiting: somebody else's, and that it takes too long. */
export function createWaiting(longestMs: number, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let isTooLong = false;
  const timer = setTimeout(() => {
    isTooLong = true;
    controller.abort();
  }, longestMs);
  const forward = () => controller.abort();
  signal?.addEventListener('abort', forward, { once: true });
  return {
    signal: controller.signal,
    isTooLong: () => isTooLong,
    /** Lets go of the timer and of the other signal. */
    end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    },
  };
}
