import { once } from 'node:events';
import { MINUTE_MS } from '../../../kernel/time/clock.ts';
import { TABLE_KINDS, type TableKind } from '../../../observability/own-telemetry/rows.ts';
import { createDemoTelemetry } from './generator.ts';
import type { GenerationRequest, GeneratorMessage, Reply } from './messages.ts';
import { COMPLETION_TABLE } from './traffic.ts';

// Generates a day of telemetry. A separate process, because it takes seconds of CPU and a hundred megabytes of
// short-lived memory.

const SLICE_MS = 2 * MINUTE_MS;
/** Every insert creates a part that must be merged, so inserts should not be small. */
const ROWS_PER_MESSAGE = 3000;

const OTHERS: readonly TableKind[] = TABLE_KINDS.filter((kind) => kind !== COMPLETION_TABLE);

/** Lines waiting to be sent, as bytes: a hundred thousand strings would keep the garbage collector busy. */
const waiting = new Map<TableKind, { parts: Buffer[]; rows: number }>();
let isStopped = false;
let replied: Promise<unknown> = Promise.resolve();

/** Sends one message while the next is generated. */
async function send(message: GeneratorMessage): Promise<void> {
  await replied;
  replied = once(process, 'message').then(([reply]: Reply[]) => {
    if (reply === 'stop') isStopped = true;
  });
  process.send?.(message);
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

async function flush(kind: TableKind, minRows: number): Promise<void> {
  const text = waiting.get(kind);
  if (!text || text.rows < minRows) return;
  waiting.delete(kind);
  await send({ kind, rows: text.rows, lines: Buffer.concat(text.parts) });
}

/** Sends complete steps even if stopped early. The completion table goes last, so it never covers missing rows. */
async function generate(from: ReturnType<typeof createDemoTelemetry>, fromMs: number, toMs: number): Promise<void> {
  for (let ms = fromMs; ms < toMs && !isStopped; ms += SLICE_MS) {
    const rows = from.advance(Math.min(ms + SLICE_MS, toMs));
    for (const kind of TABLE_KINDS) add(kind, rows[kind]);
    for (const kind of OTHERS) await flush(kind, ROWS_PER_MESSAGE);
  }
  for (const kind of [...OTHERS, COMPLETION_TABLE]) await flush(kind, 1);
}

// Ctrl+C signals every process of a terminal; the server decides when this one stops.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const [{ organizationId, seed, ranges, endMs }] = (await once(process, 'message')) as [GenerationRequest];
for (const { fromMs, toMs } of ranges) {
  if (isStopped) break;
  await generate(createDemoTelemetry({ organizationId, seed, fromMs }), fromMs, toMs);
}
if (!isStopped) await send({ counters: createDemoTelemetry({ organizationId, seed, fromMs: endMs }).counters() });
await replied;
process.disconnect?.();
