import { AppError } from '../../../kernel/errors.ts';
import { findInPackage } from '../../../kernel/package-files.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../../kernel/time/clock.ts';
import { TABLE_KINDS, TABLES } from '../../../observability/own-telemetry/rows.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import { missingRanges, newestFirst } from './coverage.ts';
import { writeDay } from './day.ts';
import { createDemoTelemetry, wholeSteps } from './generator.ts';
import { listGaugeTimes } from './store.ts';
import { COMPLETION_METRIC, COMPLETION_TABLE, METRICS_EVERY_MS, STEP_MS } from './traffic.ts';

const SEED = 'shop';
/** At most this much is generated and written at once, for example after the machine slept. */
const MAX_CATCH_UP_MS = 10 * MINUTE_MS;

interface Options {
  engine: Engine;
  clock: Clock;
  organizationId: string;
  /** Prints a line for the user. */
  say(line: string): void;
}

/**
 * Fills the gaps in an organization's telemetry of the last 24 hours, then adds new telemetry as time passes, in the
 * background. Must be closed.
 */
export function openDemoLoader({ engine, clock, organizationId, say }: Options) {
  let isClosed = false;
  let isFailing = false;
  let generator: ReturnType<typeof createDemoTelemetry> | undefined;
  let reachedMs = 0;

  async function loadDay(): Promise<void> {
    const program = findInPackage('dist/demo-telemetry.js');
    if (program === undefined)
      throw new AppError('unavailable', 'dist/demo-telemetry.js is missing from this installation');
    const startedMs = clock.monotonicMs();
    const endMs = wholeSteps(clock.now(), METRICS_EVERY_MS);
    const day = { fromMs: endMs - DAY_MS, toMs: endMs };
    const nextMs = endMs + METRICS_EVERY_MS;
    const gauge = { organizationId, ...COMPLETION_METRIC };
    const reports = new Set(await listGaugeTimes(engine, gauge, day.fromMs, nextMs));
    const request = { organizationId, seed: SEED, ranges: newestFirst(missingRanges(reports, day)), endMs };
    const { rows, counters } = await writeDay({ program, engine, request, isStopped: () => isClosed });
    if (!counters) return;
    generator = createDemoTelemetry({ organizationId, seed: SEED, fromMs: endMs, counters });
    // A demo that was stopped a moment ago has written the current interval already, or the start of it.
    reachedMs = reports.has(endMs) ? nextMs : endMs;
    generator.advance(reachedMs);
    const seconds = ((clock.monotonicMs() - startedMs) / 1000).toFixed(1);
    say(`demo telemetry for the last 24 hours is ready: ${rows} rows written in ${seconds} s`);
  }

  /** Generates the telemetry since the last step, possibly many steps: the machine may have slept. */
  async function catchUp(): Promise<void> {
    const nowMs = wholeSteps(clock.now());
    while (generator && reachedMs < nowMs && !isClosed) {
      reachedMs = Math.min(reachedMs + MAX_CATCH_UP_MS, nowMs);
      const rows = generator.advance(reachedMs);
      for (const kind of TABLE_KINDS) if (kind !== COMPLETION_TABLE) await engine.insert(TABLES[kind], rows[kind]);
      await engine.insert(TABLES[COMPLETION_TABLE], rows[COMPLETION_TABLE]);
      await yieldToEventLoop();
    }
  }

  /** A failed `loadDay` is not retried. */
  async function step(): Promise<void> {
    try {
      await (generator ? catchUp() : loadDay());
      isFailing = false;
    } finally {
      if (generator) loop.schedule(STEP_MS);
    }
  }

  const loop = createBackgroundLoop({
    run: step,
    onError(error) {
      if (!isFailing && !isClosed) say(`demo telemetry is not available: ${(error as Error).message}`);
      isFailing = true;
    },
  });
  loop.start();

  return {
    async close(): Promise<void> {
      isClosed = true;
      await loop.close();
    },
  };
}
