import { yieldToEventLoop } from '../../kernel/tasks/event-loop.ts';
import type { TraceRecord } from './schema.ts';

const ROWS_AT_ONCE = 250;

/** The response as JSON. Serializes a part at a time, so that a large trace does not occupy the event loop. */
export async function renderTrace({ spans, logs, ...rest }: TraceRecord): Promise<Buffer> {
  const head = JSON.stringify(rest).slice(0, -1);
  return Buffer.concat([
    Buffer.from(`{"data":${head},"spans":[`),
    ...(await renderList(spans)),
    Buffer.from('],"logs":['),
    ...(await renderList(logs)),
    Buffer.from(']}}'),
  ]);
}

async function renderList(list: readonly object[]): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for (let at = 0; at < list.length; at += ROWS_AT_ONCE) {
    if (at > 0) await yieldToEventLoop();
    const items = JSON.stringify(list.slice(at, at + ROWS_AT_ONCE)).slice(1, -1);
    parts.push(Buffer.from(at > 0 ? `,${items}` : items));
  }
  return parts;
}
