import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../kernel/time/clock.ts';
import type { ServiceSize } from '../../../management/services/service.ts';
import { decideFromSummary } from '../decide.ts';
import { GB_PER_CORE } from '../decision.ts';
import { BYTES_PER_GB, type LoadSample } from '../load.ts';
import { createRunningSummary } from '../running-summary.ts';
import { clampSize, type SizeLimits } from '../sizes.ts';
import { type LoadSeries, toLoadSeries } from './load-series.ts';
import { findFirstAbove, findLastNotBelow, findPeak, indexValues, NOT_MEASURED } from './peaks.ts';
import { type ReplayOptions, type ReplayResult, replay } from './replay.ts';
import { PROFILES, simulateLoad } from './simulated-load.ts';

const START = 29_800_003;

/** The sample of a minute at a size. */
function toSample(series: LoadSeries, index: number, size: ServiceSize): LoadSample {
  const cpu = series.cpuCores.values[index] ?? NOT_MEASURED;
  const gb = series.memoryGb.values[index] ?? NOT_MEASURED;
  const queries = series.queries?.values[index] ?? NOT_MEASURED;
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

/** Decides in every minute, as the autoscaler does. */
function replayPlainly(series: LoadSeries, { initial, getLimits, onChange }: ReplayOptions): ReplayResult {
  const result = { gbMinutes: 0, runningMinutes: 0, shortMemoryMinutes: 0, shortCpuMinutes: 0, changes: 0 };
  const load = createRunningSummary();
  let chosen = initial;
  let lastChangeAt: number | undefined;
  for (const [index, cpu] of series.cpuCores.values.entries()) {
    const minute = series.startMinute + index;
    const now = minute * MINUTE_MS;
    const { limits } = getLimits(minute);
    const current = clampSize(chosen, limits);
    const totalGb = current.memoryGb * current.replicas;
    const gb = series.memoryGb.values[index] ?? NOT_MEASURED;
    const isRunning = series.isRunning?.[index] !== 0;
    if (isRunning) result.runningMinutes++;
    if (isRunning) result.gbMinutes += totalGb;
    if (gb > totalGb) result.shortMemoryMinutes++;
    if (cpu > totalGb / GB_PER_CORE) result.shortCpuMinutes++;
    load.add(toSample(series, index, current));
    const isDue = limits.mode === 'vertical' || minute % 10 === 0 || gb > totalGb;
    if (!isRunning || !isDue) continue;
    const { action, to } = decideFromSummary(load.summarize(now), { current, limits, lastChangeAt }, now);
    if (action === 'none') continue;
    chosen = to;
    lastChangeAt = now;
    result.changes++;
    onChange?.(minute, to);
  }
  return result;
}

const limits = fc.constantFrom<SizeLimits>(
  { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 2, maxReplicas: 2 },
  { mode: 'vertical', minMemoryGb: 16, maxMemoryGb: 36, minReplicas: 2, maxReplicas: 2 },
  { mode: 'vertical', minMemoryGb: 16, maxMemoryGb: 16, minReplicas: 2, maxReplicas: 2 },
  { mode: 'vertical', minMemoryGb: 60, maxMemoryGb: 120, minReplicas: 3, maxReplicas: 3 },
  { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 2, maxReplicas: 2, fixed: 'It is fixed' },
  { mode: 'horizontal', minMemoryGb: 16, maxMemoryGb: 16, minReplicas: 1, maxReplicas: 8 },
  { mode: 'horizontal', minMemoryGb: 36, maxMemoryGb: 36, minReplicas: 2, maxReplicas: 3 },
);

/** Limits that change, as with a scaling schedule. */
const schedule = fc.array(fc.record({ minutes: fc.integer({ min: 1, max: 600 }), limits }), {
  minLength: 1,
  maxLength: 6,
});

function toGetLimits(entries: readonly { minutes: number; limits: SizeLimits }[]): ReplayOptions['getLimits'] {
  return (minute) => {
    let untilMinute = START;
    for (const { minutes, limits: found } of entries.slice(0, -1)) {
      untilMinute += minutes;
      if (minute < untilMinute) return { limits: found, untilMinute };
    }
    const last = entries.at(-1) as { limits: SizeLimits };
    return { limits: last.limits, untilMinute: Number.POSITIVE_INFINITY };
  };
}

const between = (max: number) => fc.double({ min: 0, max, noNaN: true });

/** Periods of steady or varying load, some of it exactly at a threshold, with jumps, gaps and idle times between them. */
const series: fc.Arbitrary<LoadSeries> = fc
  .array(
    fc.record({
      minutes: fc.integer({ min: 1, max: 400 }),
      cpu: fc.oneof(fc.constantFrom(NOT_MEASURED, 0, 1, 2, 3, 4, 6, 6.4, 10, 20, 40), between(40)),
      gb: fc.oneof(fc.constantFrom(NOT_MEASURED, 1, 4, 10, 20, 25.6, 30, 50, 90, 200), between(250)),
      queries: fc.constantFrom(NOT_MEASURED, 1, 500, 1600, 3000),
      isRunning: fc.constantFrom(true, true, true, true, false),
      /** Values vary by this share. */
      noise: fc.constantFrom(0, 0.1, 0.9),
      /** Every so often, a minute without a sample; 0 for none. */
      gapEvery: fc.constantFrom(0, 0, 0, 5, 19, 21),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((periods) => {
    const samples: LoadSample[] = [];
    let minute = START;
    for (const { minutes, cpu, gb, queries, isRunning, noise, gapEvery } of periods)
      for (let index = 0; index < minutes; index++, minute++) {
        if (gapEvery > 0 && index % gapEvery === 0) continue;
        const vary = (value: number, step: number) => value * (1 - noise * ((index % step) / step));
        samples.push({
          at: minute * MINUTE_MS,
          ...(cpu >= 0 && { cpuCores: vary(cpu, 7) }),
          ...(gb >= 0 && { memoryBytes: vary(gb, 45) * BYTES_PER_GB }),
          ...(queries >= 0 && { queries }),
          memoryGb: 16,
          replicas: 2,
          state: isRunning ? 'running' : 'idle',
        });
      }
    return toLoadSeries(samples, START * MINUTE_MS, minute * MINUTE_MS);
  });

/** A comparison of so many numbers with `toEqual` takes a second. */
const toBytes = ({ buffer }: Float32Array): Buffer => Buffer.from(buffer);

describe('a replay', () => {
  it('makes the same decisions in the same minutes as the autoscaler', () => {
    fc.assert(
      fc.property(series, schedule, (load, entries) => {
        const run = (replayLoad: typeof replay) => {
          const changes: unknown[] = [];
          const onChange = (minute: number, to: ServiceSize) => changes.push([minute - START, to]);
          const initial = { memoryGb: 16, replicas: 2 };
          const result = replayLoad(load, { initial, getLimits: toGetLimits(entries), onChange });
          return { changes, result };
        };
        expect(run(replay)).toEqual(run(replayPlainly));
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  it.each(PROFILES)('%s: costs less than the maximum and is rarely short', (profile) => {
    const peak = { cpuCores: 40, memoryGb: 160 };
    const load = simulateLoad({ profile, seed: 1, startMinute: START, days: 30, peak });
    const again = simulateLoad({ profile, seed: 1, startMinute: START, days: 30, peak });
    expect(toBytes(again.memoryGb.values).equals(toBytes(load.memoryGb.values))).toBe(true);
    const bounds: SizeLimits = { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 2, maxReplicas: 2 };
    const { gbMinutes, runningMinutes, shortMemoryMinutes, changes } = replay(load, {
      initial: { memoryGb: 8, replicas: 2 },
      getLimits: () => ({ limits: bounds, untilMinute: Number.POSITIVE_INFINITY }),
    });
    expect(runningMinutes).toBe(30 * 1440);
    expect(gbMinutes).toBeLessThan(0.95 * 240 * runningMinutes);
    expect(shortMemoryMinutes).toBeLessThan(0.01 * runningMinutes);
    expect(changes).toBeGreaterThan(1);
  });
});

describe('indexed values', () => {
  it('give the same results as a search in all values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1, max: 5 }), { minLength: 1, maxLength: 300 }),
        fc.nat(299),
        fc.nat(299),
        fc.integer({ min: -2, max: 6 }),
        (list, a, b, threshold) => {
          const [first, last] = [Math.min(a, b), Math.max(a, b)]
            .map((at) => at % list.length)
            .sort((x, y) => x - y) as [number, number];
          const values = indexValues(Float32Array.from(list));
          const found = [...list.slice(first, last + 1).entries()].map(([at, value]) => ({ at: at + first, value }));
          const peak = Math.max(...found.map(({ value }) => value));
          expect(findPeak(values, first, last)).toBe(peak < 0 ? undefined : peak);
          const above = found.find(({ value }) => value > threshold)?.at ?? last + 1;
          expect(findFirstAbove(values, first, last, threshold)).toBe(above);
          const notBelow = found.findLast(({ value }) => value >= threshold)?.at ?? first - 1;
          expect(findLastNotBelow(values, first, last, threshold)).toBe(notBelow);
        },
      ),
    );
  });

  it.each(PROFILES)('have the peaks of simulated load: %s', (profile) => {
    const peak = { cpuCores: 40, memoryGb: 160 };
    const { cpuCores, memoryGb } = simulateLoad({ profile, seed: 3, startMinute: START, days: 5, peak });
    for (const { values, peaks } of [cpuCores, memoryGb]) expect(peaks).toEqual(indexValues(values).peaks);
  });
});
