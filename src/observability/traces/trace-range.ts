import { OWN_DATABASE, type Statement } from '../../platform/engine/engine.ts';
import { MAX_TIME_MS, MIN_TIME_MS } from '../charts/limits.ts';
import { createDraft } from '../charts/queries/draft.ts';
import { buildQuery, rowsIn } from '../charts/queries/plan.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { createSourceColumns } from './source-columns.ts';

const ALL_TIME: Range = { startMs: MIN_TIME_MS, endMs: MAX_TIME_MS };

/** The rows of a trace in one table. */
export interface TraceRange extends Range {
  count: number;
}

/** Rows of a source without conditions of the user. */
export function createRowDraft(client: QueryClient, resolved: ResolvedSource, range: Range) {
  const all = { type: 'search' as const, where: '', whereLanguage: 'lucene' as const, groupBy: [] };
  return createDraft(buildQuery(client, all, { ...rowsIn(range), path: '' }, resolved));
}

/** Ids are stored as they were sent; some exporters send upper case. */
export const listSpellings = (traceId: string): string[] => [...new Set([traceId, traceId.toUpperCase()])];

/** Has the times of the traces in our own table of spans. */
const TIMES = `${OWN_DATABASE}.otel_trace_times`;
const isOwnSpans = ({ table }: ResolvedSource): boolean =>
  table.database === OWN_DATABASE && table.name === 'otel_traces' && table.hasOrganization;

/** Finds when a trace happened, and how many rows it has in `within`, which is everything by default. */
export function planTraceRange(
  client: QueryClient,
  resolved: ResolvedSource,
  traceId: string,
  path: string,
  within: Range = ALL_TIME,
): { statement: Statement; collect(rows: unknown[][]): TraceRange | undefined } {
  const draft = createRowDraft(client, resolved, within);
  const { requiredText } = createSourceColumns(resolved, draft.writer, path);
  const ids = draft.writer.bind(listSpellings(traceId), 'Array(String)');
  const isOfTrace = `${requiredText('traceIdExpression')} IN ${ids}`;
  const ms = (sql: string) => `toUnixTimestamp64Milli(toDateTime64(${sql}, 3))`;
  const sql =
    `SELECT count(), ${ms(`min(${draft.time})`)}, ${ms(`max(${draft.time})`)} ` +
    `FROM (${draft.rows()})${draft.where(isOfTrace, ...(isOwnSpans(resolved) ? listKnownTimes() : []))}`;
  /** A trace that was stored before the table of times existed is searched for everywhere. */
  function listKnownTimes(): string[] {
    const own = draft.writer.bind(client.organizationId, 'String');
    const read = (time: string, unknown: number) =>
      `(SELECT if(count() = 0, ${draft.moment(unknown)}, ${time}) FROM ${TIMES} WHERE OrganizationId = ${own} AND TraceId IN ${ids})`;
    return [
      `${draft.time} >= ${read('min(First)', within.startMs)}`,
      `${draft.time} <= ${read('max(Last)', within.endMs)}`,
    ];
  }

  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect([row = []]) {
      const [count = 0, first = 0, last = 0] = row.map(Number);
      // toDateTime64(…, 3) cuts the nanoseconds off.
      return count === 0 ? undefined : { count, startMs: first, endMs: last + 1 };
    },
  };
}
