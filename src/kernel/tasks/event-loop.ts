import { setImmediate } from 'node:timers/promises';

/**
 * Lets other requests be read and answered before more work is done. One `setImmediate` is not enough: in the callback of
 * an I/O event it runs before the next event is read.
 */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
