import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine } from '../../engine/engine.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { type Batch, emptyBatch, rowCount, TABLE_KINDS, TABLES, type TableKind } from '../rows.ts';
import { findGaugeMoments } from '../store.ts';
import { missingRanges, type Range } from './coverage.ts';
import { createDemoTelemetry, wholeSteps } from './generator.ts';
import { METRICS_EVERY_MS, STEP_MS } from './shape.ts';

const SEED = 'shop';
/** What is made without letting others have their turn; a few milliseconds of work. */
const SLICE_MS = 2 * MINUTE_MS;
/** What is written at once. */
const WRITE_MS = 30 * MINUTE_MS;

/** Written last: where it has a value, everything else is there too. */
const MARK: TableKind = 'gauge';
const MARK_METRIC = { serviceName: 'gateway', metricName: 'system.cpu.utilization' };
const IN_ORDER: readonly TableKind[] = [...TABLE_KINDS.filter((kind) => kind !== MARK), MARK];

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
  let generator: ReturnType<typeof createDemoTelemetry>;
  let reachedMs = 0;

  async function loadDay(): Promise<void> {
    const beganMs = clock.now();
    const toMs = wholeSteps(beganMs, METRICS_EVERY_MS);
    const day = { fromMs: toMs - DAY_MS, toMs };
    const reports = await findGaugeMoments(engine, { organizationId, ...MARK_METRIC }, day.fromMs, day.toMs);
    let rows = 0;
    for (const range of missingRanges(new Set(reports), day)) rows += await fill(range);
    generator = createDemoTelemetry({ organizationId, seed: SEED, fromMs: toMs });
    reachedMs = toMs;
    const seconds = ((clock.now() - beganMs) / 1000).toFixed(1);
    if (!isClosed) say(`demo telemetry of the last 24 hours is there: ${rows} rows written in ${seconds} s`);
  }

  async function fill({ fromMs, toMs }: Range): Promise<number> {
    const range = createDemoTelemetry({ organizationId, seed: SEED, fromMs });
    let rows = 0;
    for (let ms = fromMs; ms < toMs && !isClosed; ms += WRITE_MS) {
      const batch = await makeSliced(range, ms, Math.min(ms + WRITE_MS, toMs));
      await write(batch);
      rows += rowCount(batch);
    }
    return rows;
  }

  async function makeSliced(from: typeof generator, fromMs: number, toMs: number): Promise<Batch> {
    const batch = emptyBatch();
    for (let ms = fromMs; ms < toMs; ms += SLICE_MS) {
      const slice = from.advance(Math.min(ms + SLICE_MS, toMs));
      for (const kind of TABLE_KINDS) (batch[kind] as object[]).push(...slice[kind]);
      await nextTurn();
    }
    return batch;
  }

  /** One table after the other: each is turned into text in one go, which nobody else should have to wait for. */
  async function write(batch: Batch): Promise<void> {
    for (const kind of IN_ORDER) if (batch[kind].length > 0) await engine.insert(TABLES[kind], batch[kind]);
  }

  /** What has happened since, also when that is more than a step: the machine may have slept. */
  async function catchUp(): Promise<void> {
    const nowMs = wholeSteps(clock.now());
    while (reachedMs < nowMs && !isClosed) {
      const toMs = Math.min(reachedMs + WRITE_MS, nowMs);
      const batch = await makeSliced(generator, reachedMs, toMs);
      reachedMs = toMs;
      await write(batch);
    }
  }

  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      isFailing = false;
      return true;
    } catch (error) {
      if (!isFailing && !isClosed) say(`no demo telemetry: ${(error as Error).message}`);
      isFailing = true;
      return false;
    }
  }

  async function run(): Promise<void> {
    if (!(await attempt(loadDay))) return;
    const next = () => {
      if (isClosed) return;
      timer = setTimeout(() => {
        working = attempt(catchUp).then(next);
      }, STEP_MS).unref();
    };
    next();
  }

  let working: Promise<void> = run();
  return {
    /** Resolves when the last 24 hours are there, or cannot be. */
    loaded: working,
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await working;
    },
  };
}
