/** An abort signal that fires when the caller's signal does, or after `timeoutMs`. Call `end` when done. */
export function createDeadline(timeoutMs: number, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let hasPassed = false;
  const timer = setTimeout(() => {
    hasPassed = true;
    controller.abort();
  }, timeoutMs);
  const forward = () => controller.abort();
  signal?.addEventListener('abort', forward, { once: true });
  return {
    signal: controller.signal,
    hasPassed: () => hasPassed,
    /** Releases the timer and the listener on the caller's signal. */
    end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    },
  };
}
