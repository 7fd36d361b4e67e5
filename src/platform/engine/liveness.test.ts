import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { createLiveness } from './liveness.ts';

type Ping = (signal: AbortSignal) => Promise<void>;
const responds: Ping = async () => {};
const fails: Ping = () => Promise.reject(new Error('ECONNREFUSED'));
const hangs: Ping = () => new Promise(() => {});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(opened.splice(0).map((liveness) => liveness.close()))));

function open(sliceMs = 5) {
  let pings = 0;
  const liveness = createLiveness<Ping>({
    everyMs: 5,
    sliceMs,
    ping(connection, signal) {
      pings++;
      return connection(signal);
    },
  });
  opened.push(liveness);
  return { ...liveness, countPings: async () => pings };
}

it('aborts the running operations of an engine that does not respond', async () => {
  const { watch } = open();
  const aborted: string[] = [];
  watch(hangs, () => void aborted.push('one'));
  watch(hangs, () => void aborted.push('two'));
  const end = watch(hangs, () => void aborted.push('ended'));
  end();
  await until(
    async () => aborted.length,
    (length) => length >= 2,
    'the operations are not aborted',
  );
  expect(aborted.slice(0, 2)).toEqual(['one', 'two']);
  expect(aborted).not.toContain('ended');
});

it.each([
  ['responds', responds],
  ['rejects connections, which its operations report themselves', fails],
])('lets operations run as long as the engine %s', async (_title, connection) => {
  const { watch, countPings } = open();
  let isAborted = false;
  const end = watch(connection, () => {
    isAborted = true;
  });
  await until(countPings, (pings) => pings >= 30, 'the engine is not pinged');
  expect(isAborted).toBe(false);
  end();
});

it('does not take a pause of this process for a hang', async () => {
  const { watch, countPings } = open(20);
  let isAborted = false;
  const busy: Ping = async () => {
    await delay(1);
    // Longer than all slices together; the response follows right after.
    for (const endsAt = performance.now() + 1000; performance.now() < endsAt; );
    await delay(1);
  };
  const end = watch(busy, () => {
    isAborted = true;
  });
  await until(countPings, (pings) => pings >= 2, 'the engine is not pinged');
  end();
  expect(isAborted).toBe(false);
});
