import pino from 'pino';
import { expect, it } from 'vitest';
import type { Observed } from '../drivers/driver.ts';
import { MINUTE_MS } from '../kernel/clock.ts';
import type { Service } from '../services/service.ts';
import type { LoadSample } from './load.ts';
import { createLoadRecorder } from './load-recorder.ts';

const START = Date.parse('2026-11-16T10:00:00Z');

it('one sample per minute: the highest load, the latest size, and the failures of the minute', async () => {
  let now = START;
  let isBroken = true;
  const stored: LoadSample[] = [];
  const recorder = createLoadRecorder({
    clock: { now: () => now, monotonicMs: () => now },
    log: pino({ level: 'silent' }),
    loadHistory: {
      async recordSamples(added) {
        if (isBroken) throw new Error('the store cannot be written');
        stored.push(...added.flatMap(({ samples }) => samples));
      },
      readHistory: async () => [],
    },
  });
  const service = { id: 's', organizationId: 'o' } as Service;
  const observe = (load: Observed['load'], more: Partial<Observed> = {}) =>
    recorder.observed(service, { state: 'running', memoryGb: 16, replicas: 2, ...(load && { load }), ...more }, 3);
  observe({ cpuCores: 2, memoryBytes: 10, outOfMemory: 5 });
  now += 10_000;
  observe({ cpuCores: 1, memoryBytes: 20, outOfMemory: 7 }, { memoryGb: 20 });
  now = START + MINUTE_MS;
  // The service was started again.
  observe({ cpuCores: 1, outOfMemory: 1 });
  await recorder.flush();
  expect(stored).toEqual([]);
  isBroken = false;
  now += MINUTE_MS;
  observe(undefined, { state: 'idle' });
  await recorder.released('s');
  const common = { memoryGb: 16, replicas: 2, state: 'running', queries: 3 };
  expect(stored).toEqual([
    { ...common, at: START + 10_000, memoryGb: 20, cpuCores: 2, memoryBytes: 20, outOfMemory: 2 },
    { ...common, at: START + MINUTE_MS, cpuCores: 1, outOfMemory: 1 },
    { ...common, at: START + 2 * MINUTE_MS, state: 'idle' },
  ]);
  await recorder.close();
});
