/** An abort signal that fires when the caller's signal does, after `timeoutMs`, or on `expire`. Call `end` when done. */
export function createDeadline(timeoutMs: number, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let hasPassed = false;
  const expire = () => {
    hasPassed = true;
    controller.abort();
  };
  const timer = setTimeout(expire, timeoutMs);
  const forward = () => controller.abort();
  signal?.addEventListener('abort', forward, { once: true });
  return {
    signal: controller.signal,
    expire,
    hasPassed: () => hasPassed,
    /** Releases the timer and the listener on the caller's signal. */
    end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    },
  };
}
