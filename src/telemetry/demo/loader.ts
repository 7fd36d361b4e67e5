import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine } from '../../engine/engine.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { TABLE_KINDS, TABLES, type TableKind } from '../rows.ts';
import { findGaugeMoments } from '../store.ts';
import { missingRanges, type Range } from './coverage.ts';
import { createDemoTelemetry, wholeSteps } from './generator.ts';
import { METRICS_EVERY_MS, STEP_MS } from './shape.ts';

type DemoTelemetry = ReturnType<typeof createDemoTelemetry>;

const SEED = 'shop';
/** What is made without letting others have their turn; a few milliseconds of work. */
const SLICE_MS = 2 * MINUTE_MS;
/** Every write makes a part that has to be merged, so they should not be small. */
const ROWS_PER_WRITE = 4000;
const CHECKPOINT_MS = 4 * 60 * MINUTE_MS;

/** Written last, at each checkpoint: where it has a value, everything else is there too. */
const MARK: TableKind = 'gauge';
const MARK_METRIC = { serviceName: 'gateway', metricName: 'system.cpu.utilization' };
const OTHERS: readonly TableKind[] = TABLE_KINDS.filter((kind) => kind !== MARK);

/** Rows that wait to be written, as bytes: a hundred thousand strings would keep the garbage collector busy. */
interface Text {
  parts: Buffer[];
  rows: number;
}

const emptyTexts = () =>
  Object.fromEntries(TABLE_KINDS.map((kind): [TableKind, Text] => [kind, { parts: [], rows: 0 }])) as Record<
    TableKind,
    Text
  >;

function addText(text: Text, rows: readonly object[]): void {
  let lines = '';
  for (const row of rows) lines += `${JSON.stringify(row)}\n`;
  text.parts.push(Buffer.from(lines));
  text.rows += rows.length;
}

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
  let generator: DemoTelemetry;
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
    for (let ms = fromMs; ms < toMs && !isClosed; ms += CHECKPOINT_MS)
      rows += await writeUpTo(range, ms, Math.min(ms + CHECKPOINT_MS, toMs));
    return rows;
  }

  async function writeUpTo(from: DemoTelemetry, fromMs: number, toMs: number): Promise<number> {
    const waiting = emptyTexts();
    let rows = 0;
    // Whoever stops it early still gets what was made so far, and its mark.
    for (let ms = fromMs; ms < toMs && !isClosed; ms += SLICE_MS) {
      const batch = from.advance(Math.min(ms + SLICE_MS, toMs));
      for (const kind of TABLE_KINDS) addText(waiting[kind], batch[kind]);
      for (const kind of OTHERS) if (waiting[kind].rows >= ROWS_PER_WRITE) rows += await write(kind, waiting[kind]);
      await nextTurn();
    }
    for (const kind of [...OTHERS, MARK]) rows += await write(kind, waiting[kind]);
    return rows;
  }

  async function write(kind: TableKind, text: Text): Promise<number> {
    const { rows } = text;
    const lines = Buffer.concat(text.parts.splice(0));
    text.rows = 0;
    await engine.insertLines(TABLES[kind], lines);
    return rows;
  }

  /** What has happened since, also when that is more than a step: the machine may have slept. */
  async function catchUp(): Promise<void> {
    const fromMs = reachedMs;
    reachedMs = wholeSteps(clock.now());
    if (fromMs < reachedMs) await writeUpTo(generator, fromMs, reachedMs);
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
