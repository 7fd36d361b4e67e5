import { once } from 'node:events';
import { MINUTE_MS } from '../../kernel/clock.ts';
import { TABLE_KINDS, type TableKind } from '../../telemetry/rows.ts';
import { createDemoTelemetry } from './generator.ts';
import type { GenerationRequest, GeneratorMessage, Reply } from './messages.ts';
import { MARK } from './traffic.ts';

// The program that makes a day of telemetry: seconds of work and a hundred megabytes of short-lived memory, neither of
// which the server should have to bear.

const SLICE_MS = 2 * MINUTE_MS;
/** Every write makes a part that has to be merged, so they should not be small. */
const ROWS_PER_PIECE = 3000;
const CHECKPOINT_MS = 4 * 60 * MINUTE_MS;

const OTHERS: readonly TableKind[] = TABLE_KINDS.filter((kind) => kind !== MARK);

/** Lines that wait to be sent, as bytes: a hundred thousand strings would keep the garbage collector busy. */
const waiting = new Map<TableKind, { parts: Buffer[]; rows: number }>();
let isStopped = false;
let answered: Promise<unknown> = Promise.resolve();

/** One piece is on its way while the next is being made. */
async function send(piece: GeneratorMessage): Promise<void> {
  await answered;
  answered = once(process, 'message').then(([answer]: Reply[]) => {
    if (answer === 'stop') isStopped = true;
  });
  process.send?.(piece);
}

function add(kind: TableKind, rows: readonly object[]): void {
  if (rows.length === 0) return;
  let lines = '';
  for (const row of rows) lines += `${JSON.stringify(row)}\n`;
  const text = waiting.get(kind) ?? { parts: [], rows: 0 };
  text.parts.push(Buffer.from(lines));
  text.rows += rows.length;
  waiting.set(kind, text);
}

async function flush(kind: TableKind, least: number): Promise<void> {
  const text = waiting.get(kind);
  if (!text || text.rows < least) return;
  waiting.delete(kind);
  await send({ kind, rows: text.rows, lines: Buffer.concat(text.parts) });
}

/** What is made is sent whole, also when it is stopped early: the mark goes last and only over what is there. */
async function make(from: ReturnType<typeof createDemoTelemetry>, fromMs: number, toMs: number): Promise<void> {
  for (let ms = fromMs; ms < toMs && !isStopped; ms += SLICE_MS) {
    const batch = from.advance(Math.min(ms + SLICE_MS, toMs));
    for (const kind of TABLE_KINDS) add(kind, batch[kind]);
    for (const kind of OTHERS) await flush(kind, ROWS_PER_PIECE);
  }
  for (const kind of [...OTHERS, MARK]) await flush(kind, 1);
}

// Ctrl+C reaches every process of a terminal; the server decides what becomes of it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const [{ organizationId, seed, ranges, endMs }] = (await once(process, 'message')) as [GenerationRequest];
for (const { fromMs, toMs } of ranges) {
  const range = createDemoTelemetry({ organizationId, seed, fromMs });
  for (let ms = fromMs; ms < toMs && !isStopped; ms += CHECKPOINT_MS)
    await make(range, ms, Math.min(ms + CHECKPOINT_MS, toMs));
}
if (!isStopped) await send({ counters: createDemoTelemetry({ organizationId, seed, fromMs: endMs }).counters() });
await answered;
process.disconnect?.();
