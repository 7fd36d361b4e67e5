import { formatLine, textCell } from '../../kernel/csv.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { TelemetryQueries } from '../charts/telemetry-queries.ts';
import type { Position } from './cursor.ts';
import { toNanos } from './nanos.ts';
import { readPage } from './page.ts';
import type { FoundRow } from './rows.ts';
import { type ExportBody, MAX_EXPORTED_ROWS, MAX_RESULTS } from './schema.ts';
import { toRecords } from './search.ts';
import { defaultSelect, parseRange, resolveEvents, toQuery } from './search-query.ts';
import type { SelectedColumn } from './select-list.ts';

const PAGE_WAIT_MS = 30_000;

interface Format {
  header(columns: readonly SelectedColumn[]): string;
  format(columns: readonly SelectedColumn[], rows: readonly FoundRow[]): string;
}

const FORMATS: Record<ExportBody['format'], Format> = {
  ndjson: {
    header: () => '',
    format: (columns, rows) =>
      toRecords(columns, rows)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
  },
  csv: {
    header: (columns) => formatLine(columns.map(({ name }) => textCell(name))),
    format: (_, rows) => rows.map(({ values }) => formatLine(values.map(formatCell))).join(''),
  },
};

/** All matching rows, newest first, one page in memory at a time. */
export function createSearchExport({ clock, queries }: { clock: Clock; queries: TelemetryQueries }) {
  return async function* (client: QueryClient, body: ExportBody): AsyncGenerator<Buffer> {
    const resolved = await resolveEvents(queries, client.organizationId, body.sourceId);
    const range = parseRange(clock.now(), body);
    const query = toQuery(client.organizationId, resolved, body, range);
    const select = body.select?.trim() ? body.select : defaultSelect(resolved);
    const { header, format } = FORMATS[body.format];
    let left = body.limit ?? MAX_EXPORTED_ROWS;
    let position: Position | undefined = { range, before: toNanos(range.endMs) };
    for (let isFirst = true; position && left > 0; isFirst = false) {
      const limits = { rows: Math.min(MAX_RESULTS, left), waitMs: PAGE_WAIT_MS };
      const { columns, rows, next } = await readPage({ queries, client, query, select }, position, limits);
      yield Buffer.from((isFirst ? header(columns) : '') + format(columns, rows));
      left -= rows.length;
      position = next;
    }
  };
}

const formatCell = (value: unknown): string => {
  if (typeof value === 'number') return String(value);
  if (value === null || value === undefined) return '';
  return textCell(typeof value === 'string' ? value : JSON.stringify(value));
};
