import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../kernel/time/clock.ts';
import { decide, decideFromSummary } from './decide.ts';
import type { DecisionInput } from './decision.ts';
import { OUT_COOL_DOWN_MS } from './horizontal.ts';
import { BYTES_PER_GB, type LoadSample, summarizeLoad } from './load.ts';
import { createRunningSummary } from './running-summary.ts';
import { MEMORY_STEPS, type SizeLimits } from './sizes.ts';
import { DOWN_COOL_DOWN_MS, FAR_UP_COOL_DOWN_MS } from './vertical.ts';

const NOW = Date.parse('2026-11-16T12:00:00Z');
const VERTICAL: SizeLimits = { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 3, maxReplicas: 3 };
const HORIZONTAL: SizeLimits = {
  mode: 'horizontal',
  minMemoryGb: 16,
  maxMemoryGb: 16,
  minReplicas: 2,
  maxReplicas: 20,
};

interface Load {
  cpu?: number;
  gb?: number;
  queries?: number;
  outOfMemory?: number;
  state?: LoadSample['state'];
}

const toSample = (load: Load, age: number): LoadSample => ({
  at: NOW - age * MINUTE_MS,
  ...(load.cpu !== undefined && { cpuCores: load.cpu }),
  ...(load.gb !== undefined && { memoryBytes: load.gb * BYTES_PER_GB }),
  ...(load.queries !== undefined && { queries: load.queries }),
  ...(load.outOfMemory !== undefined && { outOfMemory: load.outOfMemory }),
  memoryGb: 16,
  replicas: 3,
  state: load.state ?? 'running',
});

/** The same load in each of the last `minutes` minutes. */
const steady = (load: Load, minutes = 1800): LoadSample[] =>
  Array.from({ length: minutes }, (_, index) => toSample(load, minutes - 1 - index));

const vertical = (memoryGb: number, more: Partial<DecisionInput> = {}): DecisionInput => ({
  current: { memoryGb, replicas: 3 },
  limits: VERTICAL,
  ...more,
});
const horizontal = (replicas: number, more: Partial<DecisionInput> = {}): DecisionInput => ({
  current: { memoryGb: 16, replicas },
  limits: HORIZONTAL,
  ...more,
});

describe('the sizes', () => {
  it('are multiples of 4 GB from 8 to 356', () => {
    expect(MEMORY_STEPS).toEqual([8, 12, 16, 20, 28, 36, 48, 60, 76, 96, 120, 152, 192, 240, 300, 356]);
  });
});

describe('vertical decisions', () => {
  // 16 GB and 3 replicas: 12 cores and 48 GB in total.
  it.each([
    [
      'CPU above 75%',
      steady({ cpu: 9.1, gb: 10 }),
      20,
      /^CPU peaked at 76% and memory at 21% .*gets 20 GB instead of 16 GB\.$/,
    ],
    ['CPU of 75%', steady({ cpu: 9, gb: 10 }), 16, /is the right size/],
    ['CPU of 37.5%', steady({ cpu: 4.5, gb: 10 }), 16, /is the right size/],
    ['CPU below 37.5%', steady({ cpu: 4.4, gb: 10 }), 12, /below the target, so a replica gets 12 GB/],
    ['memory × 1.25 above the size', steady({ cpu: 6, gb: 38.5 }), 20, /memory at 80%/],
    ['memory × 1.25 within the size', steady({ cpu: 1, gb: 38.4 }), 16, /is the right size/],
    ['memory that fits the smaller size without a margin', steady({ cpu: 1, gb: 28 }), 16, /is the right size/],
    ['memory that fits the smaller size with a margin', steady({ cpu: 1, gb: 26 }), 12, /gets 12 GB/],
    ['no data', [], 16, /^No load was measured/],
    ['one minute of high load', [toSample({ cpu: 12, gb: 10 }, 0)], 20, /gets 20 GB/],
    ['one minute of low load', [toSample({ cpu: 1, gb: 10 }, 0)], 16, /only 1 of the last 180 minutes have data/],
    ['an idle night', steady({ cpu: 0, gb: 0, state: 'idle' }), 16, /^No load was measured/],
    [
      'a peak four hours ago',
      [...steady({ cpu: 12, gb: 10 }).slice(0, 1500), ...steady({ cpu: 6, gb: 10 }, 240)],
      16,
      /right size/,
    ],
  ])('%s', (_, history, memoryGb, reason) => {
    const decision = decide(history, vertical(16), NOW);
    expect(decision.to).toEqual({ memoryGb, replicas: 3 });
    expect(decision.reason).toMatch(reason);
    expect(decision.inputs).toMatchObject({ mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, windowMinutes: 180 });
  });

  it('grow after one minute if the peak of 30 hours needs several steps, and after five otherwise', () => {
    const history = steady({ cpu: 9.1, gb: 10 });
    const wait = (minutes: number) => vertical(16, { lastChangeAt: NOW - minutes * MINUTE_MS });
    expect(decide(history, wait(4), NOW)).toMatchObject({ action: 'up', inputs: { targetMemoryGb: 28 } });
    const near = { ...VERTICAL, maxMemoryGb: 20 };
    expect(decide(history, { ...wait(4), limits: near }, NOW).reason).toMatch(
      /the size changed in the last (10 minutes|5 minutes|minute)/,
    );
    expect(decide(history, { ...wait(5), limits: near }, NOW).action).toBe('up');
  });

  it('grow at once after a failure for lack of memory, once for each failure, and do not shrink for 30 hours', () => {
    const failed = (age: number) =>
      steady({ cpu: 1, gb: 1 }).map((sample, index) => (index === 1799 - age ? { ...sample, outOfMemory: 1 } : sample));
    const changed = vertical(16, { lastChangeAt: NOW - 1.5 * MINUTE_MS });
    expect(decide(failed(0), changed, NOW)).toMatchObject({
      action: 'up',
      to: { memoryGb: 20 },
      reason: 'A query failed for lack of memory, so a replica gets 20 GB instead of 16 GB.',
    });
    expect(decide(failed(2), changed, NOW)).toMatchObject({ action: 'none' });
    expect(decide(failed(1700), vertical(16), NOW).reason).toMatch(
      /a query failed for lack of memory in the last 30 hours/,
    );
    expect(decide(failed(0), vertical(120), NOW).reason).toBe(
      'A query failed for lack of memory, but 120 GB per replica is the maximum.',
    );
  });

  it('follow changed limits at once, and do not change a fixed size', () => {
    const changed = { lastChangeAt: NOW };
    expect(decide([], vertical(240, changed), NOW)).toMatchObject({ action: 'down', to: { memoryGb: 120 } });
    expect(decide([], { ...vertical(8, changed), limits: { ...VERTICAL, minMemoryGb: 48 } }, NOW)).toMatchObject({
      to: { memoryGb: 48, replicas: 3 },
      reason: 'The settings allow 48 to 120 GB and 3 replicas, so the service gets 3 × 48 GB.',
    });
    const fixed = { ...VERTICAL, fixed: 'The size of a development service cannot be changed' };
    expect(decide(steady({ cpu: 12, gb: 40 }), { ...vertical(16), limits: fixed }, NOW)).toMatchObject({
      action: 'none',
      reason: 'The size of a development service cannot be changed.',
    });
  });
});

describe('horizontal decisions', () => {
  // 16 GB: 4 cores and 1,000 queries per replica.
  it.each([
    ['CPU above 80%', steady({ cpu: 13, gb: 1, queries: 1 }), 5, /was 81% in the last 10 minutes, above 80%/],
    ['CPU of 80%', steady({ cpu: 12.8, gb: 1, queries: 1 }), 4, /4 replicas are kept/],
    ['memory above 80%', steady({ cpu: 1, gb: 52, queries: 1 }), 5, /gets 5 replicas instead of 4/],
    ['queries above 80%', steady({ cpu: 1, gb: 1, queries: 3300 }), 5, /gets 5 replicas/],
    ['45%', steady({ cpu: 7.2, gb: 1, queries: 1 }), 4, /are kept/],
    ['below 45%', steady({ cpu: 7.1, gb: 1, queries: 1 }), 3, /was 44% in the last hour, below 45%/],
    [
      'a peak half an hour ago',
      [...steady({ cpu: 9, gb: 1 }).slice(0, 1770), ...steady({ cpu: 1, gb: 1 }, 30)],
      4,
      /are kept/,
    ],
    ['a short history', steady({ cpu: 1, gb: 1 }, 40), 4, /only 40 of the last 60 minutes have data/],
    ['no data', [], 4, /^No load was measured/],
  ])('%s', (_, history, replicas, reason) => {
    const decision = decide(history, horizontal(4), NOW);
    expect(decision.to).toEqual({ memoryGb: 16, replicas });
    expect(decision.reason).toMatch(reason);
  });

  it('remove a replica only if the others stay within the target', () => {
    const two = { ...HORIZONTAL, minReplicas: 1 };
    expect(decide(steady({ cpu: 3, gb: 1 }), { ...horizontal(2), limits: two }, NOW).action).toBe('none');
    expect(decide(steady({ cpu: 2.4, gb: 1 }), { ...horizontal(2), limits: two }, NOW).action).toBe('in');
  });

  it('add a replica at once after a failure for lack of memory, up to 20', () => {
    const history = steady({ cpu: 1, gb: 1, outOfMemory: 1 });
    expect(decide(history, horizontal(4, { lastChangeAt: NOW - 2 * MINUTE_MS }), NOW).to.replicas).toBe(5);
    expect(decide(history, horizontal(20), NOW)).toMatchObject({
      action: 'none',
      reason: /20 replicas is the maximum/,
    });
  });
});

const size = fc.constantFrom(...MEMORY_STEPS, 44, 100, 352);
const limits: fc.Arbitrary<SizeLimits> = fc
  .record({
    mode: fc.constantFrom('vertical' as const, 'horizontal' as const),
    sizes: fc.tuple(size, size),
    replicas: fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 })),
  })
  .map(({ mode, sizes, replicas }) => {
    const [a, b] = [Math.min(...sizes), Math.max(...sizes)];
    const [c, d] = [Math.min(...replicas), Math.max(...replicas)];
    return mode === 'vertical'
      ? { mode, minMemoryGb: a, maxMemoryGb: b, minReplicas: c, maxReplicas: c }
      : { mode, minMemoryGb: a, maxMemoryGb: a, minReplicas: c, maxReplicas: d };
  });
const settings: fc.Arbitrary<DecisionInput> = fc.record({
  current: fc.record({ memoryGb: size, replicas: fc.integer({ min: 1, max: 20 }) }),
  limits,
  lastChangeAt: fc.option(
    fc.integer({ min: 0, max: 120 * MINUTE_MS }).map((age) => NOW - age),
    { nil: undefined },
  ),
});
/** With the current size within the limits. */
const inside = settings.map((value): DecisionInput => {
  const {
    current,
    limits: { minMemoryGb, maxMemoryGb, minReplicas, maxReplicas },
  } = value;
  const clamp = (n: number, a: number, b: number) => Math.min(Math.max(n, a), b);
  return {
    ...value,
    current: {
      memoryGb: clamp(current.memoryGb, minMemoryGb, maxMemoryGb),
      replicas: clamp(current.replicas, minReplicas, maxReplicas),
    },
  };
});
const optional = (max: number) => fc.option(fc.double({ min: 0, max, noNaN: true }), { nil: undefined });
/** Runs of equal minutes, with gaps between them. */
const history: fc.Arbitrary<LoadSample[]> = fc
  .array(
    fc.record({
      minutes: fc.integer({ min: 1, max: 400 }),
      gap: fc.constantFrom(0, 0, 0, 1, 5, 200),
      cpu: optional(400),
      gb: optional(3000),
      queries: optional(20_000),
      outOfMemory: fc.constantFrom(undefined, undefined, undefined, 1),
      state: fc.constantFrom('running' as const, 'running' as const, 'idle' as const),
    }),
    { maxLength: 5 },
  )
  .map((runs) => {
    let age = -1;
    const samples: LoadSample[] = [];
    for (const { minutes, gap, ...load } of runs) {
      age += gap;
      for (let index = 0; index < minutes; index++) samples.push(toSample(load as Load, ++age));
    }
    return samples.reverse();
  });

describe('every decision', () => {
  it('is within the limits, explained, and the same for the same arguments', () => {
    fc.assert(
      fc.property(history, settings, (samples, given) => {
        const { to, reason, action, from } = decide(samples, given, NOW);
        const { minMemoryGb, maxMemoryGb, minReplicas, maxReplicas } = given.limits;
        expect(to.memoryGb >= minMemoryGb && to.memoryGb <= maxMemoryGb).toBe(true);
        expect(to.replicas >= minReplicas && to.replicas <= maxReplicas).toBe(true);
        expect(to.memoryGb % 4).toBe(0);
        expect(reason).toMatch(/^[A-Z].*\.$/);
        expect(reason).not.toMatch(/undefined|NaN/);
        expect(action === 'none').toBe(JSON.stringify(to) === JSON.stringify(from));
        expect(decide(samples, given, NOW)).toEqual(decide(samples, given, NOW));
      }),
    );
  });

  it('is at most one step, and in its mode', () => {
    fc.assert(
      fc.property(history, inside, (samples, given) => {
        const { from, to } = decide(samples, given, NOW);
        const between = MEMORY_STEPS.filter((step) => (step - from.memoryGb) * (step - to.memoryGb) < 0);
        expect(between).toEqual([]);
        expect(Math.abs(to.replicas - from.replicas)).toBeLessThanOrEqual(1);
        expect(given.limits.mode === 'vertical' ? to.replicas : to.memoryGb).toBe(
          given.limits.mode === 'vertical' ? from.replicas : from.memoryGb,
        );
      }),
    );
  });

  it('does not reduce the size if a tenth of the minutes have no data', () => {
    fc.assert(
      fc.property(
        history,
        inside,
        fc.constantFrom('cpuCores' as const, 'memoryBytes' as const, 'sample' as const),
        (samples, given, missing) => {
          const withGaps = samples.flatMap((sample, index): LoadSample[] => {
            if (index % 10 !== 0) return [sample];
            if (missing === 'sample') return [];
            const { [missing]: _, ...rest } = sample;
            return [rest];
          });
          expect(decide(withGaps, given, NOW).action).not.toMatch(/^(down|in)$/);
        },
      ),
    );
  });

  it('is not smaller for a higher load', () => {
    fc.assert(
      fc.property(history, settings, fc.double({ min: 1, max: 5, noNaN: true }), (samples, given, factor) => {
        const higher = samples.map((sample) => ({
          ...sample,
          ...(sample.cpuCores !== undefined && { cpuCores: sample.cpuCores * factor }),
          ...(sample.memoryBytes !== undefined && { memoryBytes: sample.memoryBytes * factor }),
          ...(sample.queries !== undefined && { queries: sample.queries * factor }),
        }));
        const [low, high] = [decide(samples, given, NOW).to, decide(higher, given, NOW).to];
        expect(high.memoryGb).toBeGreaterThanOrEqual(low.memoryGb);
        expect(high.replicas).toBeGreaterThanOrEqual(low.replicas);
      }),
    );
  });

  it('respects the cool-downs, unless a query failed for lack of memory', () => {
    fc.assert(
      fc.property(history, inside, (samples, given) => {
        const without = samples.map(({ outOfMemory: _, ...sample }) => sample);
        const { action } = decide(without, given, NOW);
        const elapsed = given.lastChangeAt === undefined ? Number.POSITIVE_INFINITY : NOW - given.lastChangeAt;
        if (elapsed < DOWN_COOL_DOWN_MS) expect(action).not.toMatch(/^(down|in)$/);
        if (elapsed < (given.limits.mode === 'vertical' ? FAR_UP_COOL_DOWN_MS : OUT_COOL_DOWN_MS))
          expect(action).toBe('none');
      }),
    );
  });

  it('is the same from a running summary', () => {
    fc.assert(
      fc.property(history, settings, fc.integer({ min: 0, max: 300 }), (samples, given, later) => {
        const running = createRunningSummary();
        for (const sample of samples) running.add(sample);
        const now = NOW + later * MINUTE_MS;
        expect(running.summarize(now)).toEqual(summarizeLoad(samples, now));
        expect(decideFromSummary(running.summarize(now), given, now)).toEqual(decide(samples, given, now));
      }),
    );
  });
});
