import { createTelemetryRows, type TelemetryRows } from '../../telemetry/rows.ts';
import { addBackgroundLogs } from './background-logs.ts';
import { type Counters, createCounters } from './counters.ts';
import { addMetrics } from './metrics.ts';
import { createRandom } from './random.ts';
import { addTraces } from './traces.ts';
import { METRICS_EVERY_MS, STEP_MS } from './traffic.ts';

interface Options {
  organizationId: string;
  seed: string;
  /** A whole number of steps, as is every end. */
  fromMs: number;
  /** As they stood at `fromMs`, where that is known. */
  counters?: Counters;
}

export const wholeSteps = (ms: number, step = STEP_MS): number => Math.floor(ms / step) * step;

/**
 * Telemetry of a small shop, step by step from a moment on. What happens in a step follows from the seed and the time
 * alone: the same range always has the same rows, in one piece or in many.
 */
export function createDemoTelemetry({ organizationId, seed, fromMs, counters: known }: Options) {
  const counters = createCounters(seed, fromMs, known);
  let reachedMs = fromMs;
  return {
    /** As they stand where the last call ended, to go on with elsewhere. */
    counters: counters.now,
    /** The rows from where the last call ended up to `toMs`, which is not part of them. */
    advance(toMs: number): TelemetryRows {
      const batch = createTelemetryRows();
      for (; reachedMs < toMs; reachedMs += STEP_MS) {
        const random = createRandom(seed, reachedMs);
        addTraces(batch, random, organizationId, reachedMs);
        addBackgroundLogs(batch, random, organizationId, reachedMs);
        if (reachedMs % METRICS_EVERY_MS === 0)
          addMetrics(batch, counters.advance(reachedMs), { organizationId, seed, ms: reachedMs });
      }
      return batch;
    },
  };
}
