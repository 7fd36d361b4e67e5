import type { Statement } from '../../platform/engine/engine.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { formatNanos } from '../search/nanos.ts';
import { DEFAULT_TRACES } from './limits.ts';
import type { TraceSearchRecord } from './schema.ts';
import { createSourceColumns } from './source-columns.ts';
import { createSpanDraft, type SpanQuery, timeColumns } from './span-query.ts';
import { createRowDraft } from './trace-range.ts';

/** Matching spans that are grouped by trace. A limit, because the traces of a long range do not fit into memory. */
const MAX_MATCHES = 50_000;
/** The other spans of a trace are looked for this long before and after the matching ones. */
const MARGIN_MS = 3_600_000;
const MAX_SERVICES = 20;

export interface TraceSearch extends SpanQuery {
  minDurationNs?: number;
  maxDurationNs?: number;
  orderBy?: 'newest' | 'slowest';
  limit?: number;
}

interface Candidate {
  traceId: string;
  startMs: number;
  endMs: number;
  matchedSpans: number;
  matchedDurationNs: number;
}

interface Candidates {
  /** In the order of the search. */
  traces: Candidate[];
  truncated: boolean;
}

/** The traces of the newest or slowest matching spans. */
export function planCandidates(
  client: QueryClient,
  resolved: ResolvedSource,
  { limit = DEFAULT_TRACES, orderBy = 'newest', minDurationNs, maxDurationNs, ...query }: TraceSearch,
): { statement: Statement; collect(rows: unknown[][]): Candidates } {
  const draft = createSpanDraft(client, resolved, query);
  const { writer } = draft;
  const columns = createSourceColumns(resolved, writer);
  const traceId = columns.requiredText('traceIdExpression');
  const conditions = [
    `${traceId} != ''`,
    minDurationNs === undefined ? undefined : `${columns.durationNs()} >= ${writer.bind(minDurationNs, 'Int64')}`,
    maxDurationNs === undefined ? undefined : `${columns.durationNs()} <= ${writer.bind(maxDurationNs, 'Int64')}`,
  ];
  const key = orderBy === 'newest' ? '__start' : '__duration';
  const matching =
    `SELECT ${traceId} AS __trace, ${timeColumns(columns).join(', ')} FROM (${draft.rows()})${draft.where(...conditions)} ` +
    `ORDER BY ${key} DESC LIMIT ${writer.bind(MAX_MATCHES, 'UInt32')}`;
  const sql =
    'SELECT __trace, intDiv(min(__start), 1000000), intDiv(max(__start), 1000000), count() AS __spans, max(__duration), ' +
    `count() OVER (), sum(__spans) OVER () FROM (${matching}) GROUP BY __trace ` +
    `ORDER BY max(${key}) DESC, __trace LIMIT ${writer.bind(limit, 'UInt32')}`;
  return {
    statement: { sql, parameters: writer.parameters },
    collect: (rows) => ({
      traces: rows.map(([trace, startMs, endMs, spans, duration]) => ({
        traceId: String(trace),
        startMs: Number(startMs),
        endMs: Number(endMs),
        matchedSpans: Number(spans),
        matchedDurationNs: Number(duration),
      })),
      truncated: Number(rows[0]?.[5] ?? 0) > rows.length || Number(rows[0]?.[6] ?? 0) >= MAX_MATCHES,
    }),
  };
}

/** All spans of the traces. Undefined if there is none. */
export function planSummaries(client: QueryClient, resolved: ResolvedSource, traces: readonly Candidate[]) {
  if (traces.length === 0) return undefined;
  const range = {
    startMs: Math.min(...traces.map(({ startMs }) => startMs)) - MARGIN_MS,
    endMs: Math.max(...traces.map(({ endMs }) => endMs)) + MARGIN_MS,
  };
  const draft = createRowDraft(client, resolved, range);
  const { writer } = draft;
  const columns = createSourceColumns(resolved, writer);
  const traceId = columns.requiredText('traceIdExpression');
  const ids = writer.bind(
    traces.map((trace) => trace.traceId),
    'Array(String)',
  );
  const spans = `SELECT ${[
    `${traceId} AS __trace`,
    ...timeColumns(columns),
    `${columns.text('serviceNameExpression')} AS __service`,
    `${columns.requiredText('spanNameExpression')} AS __name`,
    `${columns.requiredText('parentSpanIdExpression')} = '' AS __is_root`,
    `${columns.isError()} AS __is_error`,
  ].join(', ')} FROM (${draft.rows()})${draft.where(`${traceId} IN ${ids}`)}`;
  const main = (column: string) => `argMax(${column}, (__is_root, __duration))`;
  const sql =
    `SELECT __trace, ${main('__service')}, ${main('__name')}, max(__is_root), toString(min(__start)), ` +
    'max(__start + __duration) - min(__start), count(), countIf(__is_error), ' +
    `arraySort(groupUniqArray(${MAX_SERVICES})(__service)) FROM (${spans}) GROUP BY __trace`;
  return {
    statement: { sql, parameters: writer.parameters } satisfies Statement,
    collect(rows: unknown[][]): TraceSearchRecord['traces'] {
      const byId = new Map(rows.map((row) => [String(row[0]), row]));
      return traces.flatMap(({ traceId: id, matchedSpans, matchedDurationNs }) => {
        const row = byId.get(id);
        if (!row) return [];
        const [, service, name, hasRoot, start, durationNs, count, errors, services] = row;
        return [
          {
            traceId: id,
            service: String(service),
            name: String(name),
            hasRoot: Number(hasRoot) === 1,
            start: formatNanos(BigInt(String(start))),
            durationNs: Number(durationNs),
            spans: Number(count),
            errors: Number(errors),
            services: services as string[],
            matchedSpans,
            matchedDurationNs,
          },
        ];
      });
    },
  };
}
