import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../kernel/clock.ts';
import type { ServiceSize } from '../../services/service.ts';
import { decide } from '../decide.ts';
import { GB_PER_CORE } from '../decision.ts';
import { BYTES_PER_GB, HISTORY_MINUTES, type LoadSample } from '../load.ts';
import { clampSize, type SizeLimits } from '../sizes.ts';
import { type LoadSeries, NOT_MEASURED, toLoadSeries } from './load-series.ts';
import { computeSlidingPeaks, findPeak } from './peaks.ts';
import { prepareSeries, type ReplayResult, type ReplaySettings, replay } from './replay.ts';
import { PROFILES, simulateLoad } from './simulated-load.ts';

const START = 29_800_003;

/** The sample of a minute at a size. */
function toSample(series: LoadSeries, index: number, size: ServiceSize): LoadSample {
  const cpu = series.cpuCores[index] ?? NOT_MEASURED;
  const gb = series.memoryGb[index] ?? NOT_MEASURED;
  const queries = series.queries?.[index] ?? NOT_MEASURED;
  return {
    at: (series.startMinute + index) * MINUTE_MS,
    ...(cpu >= 0 && { cpuCores: cpu }),
    ...(gb >= 0 && { memoryBytes: gb * BYTES_PER_GB }),
    ...(queries >= 0 && { queries }),
    ...(gb > size.memoryGb * size.replicas && { outOfMemory: 1 }),
    ...size,
    state: series.isRunning?.[index] === 0 ? 'idle' : 'running',
  };
}

/** Calls `decide` in every minute. */
function replayPlainly(series: LoadSeries, { initial, getLimits }: ReplaySettings): ReplayResult {
  const result = { gbMinutes: 0, runningMinutes: 0, shortMemoryMinutes: 0, shortCpuMinutes: 0, changes: 0 };
  const history: LoadSample[] = [];
  let chosen = initial;
  let lastChangeAt: number | undefined;
  for (const [index, cpu] of series.cpuCores.entries()) {
    const minute = series.startMinute + index;
    const now = minute * MINUTE_MS;
    const { limits } = getLimits(minute);
    const current = clampSize(chosen, limits);
    const totalGb = current.memoryGb * current.replicas;
    const gb = series.memoryGb[index] ?? NOT_MEASURED;
    const isRunning = series.isRunning?.[index] !== 0;
    if (isRunning) result.runningMinutes++;
    if (isRunning) result.gbMinutes += totalGb;
    if (gb > totalGb) result.shortMemoryMinutes++;
    if (cpu > totalGb / GB_PER_CORE) result.shortCpuMinutes++;
    history.push(toSample(series, index, current));
    const isDue = limits.mode === 'vertical' || minute % 10 === 0 || gb > totalGb;
    if (!isRunning || !isDue) continue;
    const { action, to } = decide(history.slice(-HISTORY_MINUTES), { current, limits, lastChangeAt }, now);
    if (action === 'none') continue;
    chosen = to;
    lastChangeAt = now;
    result.changes++;
  }
  return result;
}

const limits = fc.constantFrom<SizeLimits>(
  { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 2, maxReplicas: 2 },
  { mode: 'vertical', minMemoryGb: 16, maxMemoryGb: 36, minReplicas: 2, maxReplicas: 2 },
  { mode: 'vertical', minMemoryGb: 16, maxMemoryGb: 16, minReplicas: 2, maxReplicas: 2 },
  { mode: 'horizontal', minMemoryGb: 16, maxMemoryGb: 16, minReplicas: 1, maxReplicas: 8 },
);

/** Periods of steady load, with jumps, gaps and idle times between them. */
const series: fc.Arbitrary<LoadSeries> = fc
  .array(
    fc.record({
      minutes: fc.integer({ min: 1, max: 300 }),
      cpu: fc.constantFrom(NOT_MEASURED, 0, 1, 2, 4, 6, 10, 20, 40),
      gb: fc.constantFrom(NOT_MEASURED, 1, 4, 10, 20, 30, 50, 90, 200),
      queries: fc.constantFrom(NOT_MEASURED, 1, 500, 3000),
      isRunning: fc.constantFrom(true, true, true, true, false),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((periods) => {
    const samples: LoadSample[] = [];
    let minute = START;
    for (const { minutes, cpu, gb, queries, isRunning } of periods)
      for (let index = 0; index < minutes; index++, minute++)
        samples.push({
          at: minute * MINUTE_MS,
          ...(cpu >= 0 && { cpuCores: cpu + (index % 7) / 10 }),
          ...(gb >= 0 && { memoryBytes: (gb + (index % 5) / 4) * BYTES_PER_GB }),
          ...(queries >= 0 && { queries }),
          memoryGb: 16,
          replicas: 2,
          state: isRunning ? 'running' : 'idle',
        });
    return toLoadSeries(samples, START * MINUTE_MS, minute * MINUTE_MS);
  });

describe('a replay', () => {
  it('gives the same result as a decision in every minute', () => {
    fc.assert(
      fc.property(series, limits, limits, fc.integer({ min: 30, max: 2000 }), (load, first, second, change) => {
        const settings: ReplaySettings = {
          initial: { memoryGb: 16, replicas: 2 },
          getLimits: (minute) =>
            minute < START + change
              ? { limits: first, untilMinute: START + change }
              : { limits: second, untilMinute: Number.POSITIVE_INFINITY },
        };
        expect(replay(prepareSeries(load), settings)).toEqual(replayPlainly(load, settings));
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it.each(PROFILES)('%s: costs less than the maximum and is rarely short', (profile) => {
    const peak = { cpuCores: 40, memoryGb: 160 };
    const load = simulateLoad({ profile, seed: 1, startMinute: START, days: 30, peak });
    expect(simulateLoad({ profile, seed: 1, startMinute: START, days: 30, peak })).toEqual(load);
    const bounds: SizeLimits = { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 2, maxReplicas: 2 };
    const { gbMinutes, runningMinutes, shortMemoryMinutes, changes } = replay(prepareSeries(load), {
      initial: { memoryGb: 8, replicas: 2 },
      getLimits: () => ({ limits: bounds, untilMinute: Number.POSITIVE_INFINITY }),
    });
    expect(runningMinutes).toBe(30 * 1440);
    expect(gbMinutes).toBeLessThan(0.95 * 240 * runningMinutes);
    expect(shortMemoryMinutes).toBeLessThan(0.01 * runningMinutes);
    expect(changes).toBeGreaterThan(1);
  });
});

describe('sliding peaks', () => {
  it('are the maxima of the last values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1, max: 9 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        (list, width) => {
          const values = Float32Array.from(list);
          const expected = list.map((_, index) => findPeak(values, index, width) ?? NOT_MEASURED);
          expect([...computeSlidingPeaks(values, width)]).toEqual(expected);
        },
      ),
    );
  });
});
