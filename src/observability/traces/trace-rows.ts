import type { Statement } from '../../platform/engine/engine.ts';
import { limitBytes } from '../charts/queries/search-rows.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { createSourceColumns, type SourceColumns } from './source-columns.ts';
import { createRowDraft, listSpellings, type TraceRange } from './trace-range.ts';

/** Parsing a page must not occupy the event loop for long. */
export const PAGE_ROWS = 1000;
/** As JSON, rows can be twice as large, which is the limit of a statement. */
const PAGE_BYTES = 2 * 2 ** 20;

export interface Page {
  rows: unknown[][];
  /** Of the rows in the engine's memory. */
  bytes: number;
}

interface PagePlan {
  statement: Statement;
  collect(rows: unknown[][]): Page;
}

type ListColumns = (columns: SourceColumns) => Record<string, string>;

/** In this order in the rows. The first ones define the order of the rows. */
const listSpanColumns: ListColumns = (columns) => ({
  start: columns.timeNs,
  spanId: columns.requiredText('spanIdExpression'),
  parentSpanId: columns.requiredText('parentSpanIdExpression'),
  name: columns.requiredText('spanNameExpression'),
  durationNs: columns.durationNs(),
  kind: columns.text('spanKindExpression'),
  service: columns.text('serviceNameExpression'),
  status: columns.text('statusCodeExpression'),
  statusMessage: columns.text('statusMessageExpression'),
  attributes: columns.attributes('SpanAttributes'),
  resourceAttributes: columns.resourceAttributes(),
  scopeName: columns.scopeName,
  scopeVersion: columns.scopeVersion,
  eventTimes: columns.eventTimes,
  eventNames: columns.eventNames,
  eventAttributes: columns.eventAttributes,
  linkTraceIds: columns.linkTraceIds,
  linkSpanIds: columns.linkSpanIds,
  linkTraceStates: columns.linkTraceStates,
  linkAttributes: columns.linkAttributes,
});

const listLogColumns: ListColumns = (columns) => ({
  time: columns.timeNs,
  spanId: columns.text('spanIdExpression'),
  service: columns.text('serviceNameExpression'),
  severity: columns.text('severityTextExpression'),
  body: columns.text('bodyExpression'),
  attributes: columns.attributes('LogAttributes'),
  resourceAttributes: columns.resourceAttributes(),
});

const ORDERED_COLUMNS = 5;

/** Plans a page of the spans or logs of a trace, earliest first. The page ends early if its rows are large, but not before its first row. */
export function planTracePage(
  client: QueryClient,
  resolved: ResolvedSource,
  traceId: string,
  range: TraceRange,
  { kind, offset, limit, path }: { kind: 'spans' | 'logs'; offset: number; limit: number; path: string },
): PagePlan {
  const draft = createRowDraft(client, resolved, range);
  const { writer } = draft;
  const columns = createSourceColumns(resolved, writer, path);
  const values = (kind === 'spans' ? listSpanColumns : listLogColumns)(columns);
  const names = Object.keys(values).map((_, index) => `__c${index}`);
  // A total order, so that no row is on two pages or on none.
  const order = [...names.slice(0, ORDERED_COLUMNS), '__hash'].join(', ');
  const isOfTrace = `${columns.requiredText('traceIdExpression')} IN ${writer.bind(listSpellings(traceId), 'Array(String)')}`;
  const selected = [...Object.values(values).map((sql, index) => `${sql} AS __c${index}`), 'sipHash128(*) AS __hash'];
  const found =
    `SELECT ${selected.join(', ')} FROM (${draft.rows()})${draft.where(isOfTrace)} ` +
    `ORDER BY ${order} LIMIT ${writer.bind(limit, 'UInt32')} OFFSET ${writer.bind(offset, 'UInt32')}`;
  const sql = limitBytes({ writer, found, names, order, maxBytes: PAGE_BYTES, first: '__bytes' });
  return { statement: { sql, parameters: writer.parameters }, collect };
}

const collect = (rows: unknown[][]): Page => ({
  rows: rows.map(([, ...values]) => values),
  bytes: Number(rows.at(-1)?.[0] ?? 0),
});
