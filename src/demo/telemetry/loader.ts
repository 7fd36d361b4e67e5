import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine } from '../../engine/engine.ts';
import { findInPackage } from '../../engine/package-files.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { TABLE_KINDS, TABLES } from '../../telemetry/rows.ts';
import { missingRanges } from './coverage.ts';
import { writeDay } from './day.ts';
import { createDemoTelemetry, wholeSteps } from './generator.ts';
import { findGaugeMoments } from './store.ts';
import { MARK, MARK_METRIC, METRICS_EVERY_MS, STEP_MS } from './traffic.ts';

const SEED = 'shop';
/** Made and written at once when time has passed; mostly it is a single step. */
const LARGEST_MS = 10 * MINUTE_MS;

interface Options {
  engine: Engine;
  clock: Clock;
  organizationId: string;
  /** What a person may want to know, in one line. */
  say(line: string): void;
}

/**
 * Fills the last 24 hours of an organization with made telemetry, as far as they are empty, and goes on from there as
 * time passes. All of it in the background. Must be closed.
 */
export function openDemoLoader({ engine, clock, organizationId, say }: Options) {
  let isClosed = false;
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let generator: ReturnType<typeof createDemoTelemetry> | undefined;
  let reachedMs = 0;

  async function loadDay(): Promise<void> {
    const program = findInPackage('dist/demo-telemetry.js');
    if (program === undefined)
      throw new AppError('unavailable', 'dist/demo-telemetry.js is missing from this installation');
    const beganMs = clock.now();
    const endMs = wholeSteps(beganMs, METRICS_EVERY_MS);
    const day = { fromMs: endMs - DAY_MS, toMs: endMs };
    const reports = await findGaugeMoments(engine, { organizationId, ...MARK_METRIC }, day.fromMs, day.toMs);
    const order = { organizationId, seed: SEED, ranges: missingRanges(new Set(reports), day), endMs };
    const { rows, counters } = await writeDay({ program, engine, order, isStopped: () => isClosed });
    if (!counters) return;
    generator = createDemoTelemetry({ organizationId, seed: SEED, fromMs: endMs, counters });
    reachedMs = endMs;
    const seconds = ((clock.now() - beganMs) / 1000).toFixed(1);
    say(`demo telemetry of the last 24 hours is there: ${rows} rows written in ${seconds} s`);
  }

  /** What has happened since, also when that is more than a step: the machine may have slept. */
  async function catchUp(): Promise<void> {
    const nowMs = wholeSteps(clock.now());
    while (generator && reachedMs < nowMs && !isClosed) {
      reachedMs = Math.min(reachedMs + LARGEST_MS, nowMs);
      const batch = generator.advance(reachedMs);
      for (const kind of TABLE_KINDS) if (kind !== MARK) await engine.insert(TABLES[kind], batch[kind]);
      await engine.insert(TABLES[MARK], batch[MARK]);
      await nextTurn();
    }
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isClosed) say(`no demo telemetry: ${(error as Error).message}`);
      isFailing = true;
    }
  }

  async function run(): Promise<void> {
    await attempt(loadDay);
    if (generator) goOn();
  }

  function goOn(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      working = attempt(catchUp).then(goOn);
    }, STEP_MS).unref();
  }

  let working: Promise<void> = run();
  return {
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await working;
    },
  };
}
