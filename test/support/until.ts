import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Answer, Call } from './client.ts';

const GIVE_UP_MS = 20_000;

/** Asks again until the answer is yes; fails with the last reason instead of waiting for ever. */
export async function until<T>(
  attempt: () => Promise<T>,
  isDone: (value: T) => boolean,
  what: string,
  patienceMs = GIVE_UP_MS,
): Promise<T> {
  for (const giveUpAt = Date.now() + patienceMs; ; await delay(50)) {
    const value = await attempt();
    if (isDone(value)) return value;
    if (Date.now() > giveUpAt) expect.fail(`${what}; last: ${JSON.stringify(value)?.slice(0, 500)}`);
  }
}

/** The readiness check is remembered for a second, so it may need a moment to notice. */
export const untilReady = (server: { call(call: Call): Promise<Answer> }, status: number): Promise<Answer> =>
  until(
    () => server.call({ path: '/readyz' }),
    (answer) => answer.status === status,
    `/readyz does not become ${status}`,
  );
