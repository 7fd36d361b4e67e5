import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ApiResponse, Call } from './client.ts';

/** Long enough for a machine with a load average of 30. */
const TIMEOUT_MS = 100_000;

/** Repeats `attempt` until `isDone` accepts its value; fails with the last value after the timeout. */
export async function until<T>(
  attempt: () => Promise<T>,
  isDone: (value: T) => boolean,
  failure: string,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  for (const deadline = Date.now() + timeoutMs; ; await delay(50)) {
    const value = await attempt();
    if (isDone(value)) return value;
    if (Date.now() > deadline) expect.fail(`${failure}; last: ${JSON.stringify(value)?.slice(0, 500)}`);
  }
}

/** Waits for the status of /readyz, which is cached for a second. */
export const untilReady = (server: { call(call: Call): Promise<ApiResponse> }, status: number): Promise<ApiResponse> =>
  until(
    () => server.call({ path: '/readyz' }),
    (response) => response.status === status,
    `/readyz does not become ${status}`,
  );
