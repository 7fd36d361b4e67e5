import { setTimeout as delay } from 'node:timers/promises';
import { expect, type RunnerTestCase, TestRunner } from 'vitest';
import type { ApiResponse, Call } from './client.ts';

/** In hooks, which have no limit that can be read. */
const HOOK_LIMIT_MS = 55_000;
/** For the failure to be reported before the test times out. */
const REPORT_MS = 1000;

/** What remains of the time limit of the current test. */
function getRemainingMs(): number {
  const test = TestRunner.getCurrentTest<RunnerTestCase | undefined>();
  if (!test) return HOOK_LIMIT_MS;
  return (test.result?.startTime ?? Date.now()) + test.timeout - Date.now() - REPORT_MS;
}

/** Repeats `attempt` until `isDone` accepts its value; fails with the last value just before the test would time out. */
export async function until<T>(attempt: () => Promise<T>, isDone: (value: T) => boolean, failure: string): Promise<T> {
  for (const deadline = Date.now() + getRemainingMs(); ; await delay(50)) {
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
