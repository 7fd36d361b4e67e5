import { setImmediate } from 'node:timers/promises';
import type { TraceRecord } from './schema.ts';

const ROWS_AT_ONCE = 250;

/** The response as JSON. Serializes a part at a time, so that a large trace does not occupy the event loop. */
export async function renderTrace({ spans, logs, ...rest }: TraceRecord): Promise<string> {
  const head = JSON.stringify(rest).slice(0, -1);
  const [spanList, logList] = [await renderList(spans), await renderList(logs)];
  return `{"data":${head},"spans":[${spanList}],"logs":[${logList}]}}`;
}

async function renderList(list: readonly object[]): Promise<string> {
  const parts: string[] = [];
  for (let at = 0; at < list.length; at += ROWS_AT_ONCE) {
    if (at > 0) await setImmediate();
    parts.push(JSON.stringify(list.slice(at, at + ROWS_AT_ONCE)).slice(1, -1));
  }
  return parts.join(',');
}
