import { createTelemetryRows, type TelemetryRows } from '../../../observability/own-telemetry/rows.ts';
import { addBackgroundLogs } from './background-logs.ts';
import { type Counters, createCounters } from './counters.ts';
import { addMetrics } from './metrics.ts';
import { createRandom } from './random.ts';
import { addTraces } from './traces.ts';
import { METRICS_EVERY_MS, STEP_MS } from './traffic.ts';

interface Options {
  organizationId: string;
  seed: string;
  /** A multiple of `STEP_MS`, as are all end times. */
  fromMs: number;
  /** The counters at `fromMs`, if known. */
  counters?: Counters;
}

export const wholeSteps = (ms: number, step = STEP_MS): number => Math.floor(ms / step) * step;

/**
 * Generates the telemetry of a small shop, step by step. Each step depends on the seed and the time only: a range always
 * has the same rows, whether generated at once or in parts.
 */
export function createDemoTelemetry({ organizationId, seed, fromMs, counters: known }: Options) {
  const counters = createCounters(seed, fromMs, known);
  let reachedMs = fromMs;
  return {
    /** The counters at the end of the last call, to continue in another process. */
    counters: counters.now,
    /** Generates the rows from the end of the last call up to `toMs`, exclusive. */
    advance(toMs: number): TelemetryRows {
      const rows = createTelemetryRows();
      for (; reachedMs < toMs; reachedMs += STEP_MS) {
        const random = createRandom(seed, reachedMs);
        addTraces(rows, random, organizationId, reachedMs);
        addBackgroundLogs(rows, random, organizationId, reachedMs);
        if (reachedMs % METRICS_EVERY_MS === 0)
          addMetrics(rows, counters.advance(reachedMs), { organizationId, seed, ms: reachedMs });
      }
      return rows;
    },
  };
}
