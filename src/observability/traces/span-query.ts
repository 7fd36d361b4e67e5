import type { Statement } from '../../platform/engine/engine.ts';
import { createDraft, type Draft } from '../charts/queries/draft.ts';
import { buildQuery, rowsIn } from '../charts/queries/plan.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { MAX_SAMPLED_SPANS } from './limits.ts';
import type { Sampling } from './schema.ts';
import { createSourceColumns, type SourceColumns } from './source-columns.ts';
import { createRowDraft } from './trace-range.ts';

/** The spans of a range that match. */
export interface SpanQuery extends Range {
  sourceId?: string;
  where?: string;
  whereLanguage?: 'lucene' | 'sql';
  filters?: string[];
}

/** A hash is smaller than the two ids, and equal hashes are too rare to matter. */
const HASH = 'cityHash64';

/** A trace can have more spans than its share of the sample, so the rows that a statement reads have a limit too. */
const MAX_ROWS = 4 * MAX_SAMPLED_SPANS;

/** The draft of a request whose conditions are members of its body. */
export function createSpanDraft(client: QueryClient, resolved: ResolvedSource, query: SpanQuery): Draft {
  const { where = '', whereLanguage = 'lucene', filters = [] } = query;
  const series = { type: 'search' as const, where, whereLanguage, groupBy: [] };
  return createDraft({ ...buildQuery(client, series, { ...rowsIn(query), path: '' }, resolved), filters });
}

export function planCount(client: QueryClient, resolved: ResolvedSource, range: Range) {
  const draft = createRowDraft(client, resolved, range);
  const statement: Statement = { sql: `SELECT count() FROM (${draft.rows()})`, parameters: draft.writer.parameters };
  return { statement, collect: ([row]: unknown[][]): number => Number(row?.[0] ?? 0) };
}

export function chooseSampling(totalSpans: number): Sampling {
  const oneIn = Math.max(1, Math.ceil(totalSpans / MAX_SAMPLED_SPANS));
  return { sampled: oneIn > 1, oneIn, totalSpans };
}

/** Selects values of the spans of sampled traces. */
export function createSampledSpans(
  client: QueryClient,
  resolved: ResolvedSource,
  query: SpanQuery,
  { oneIn }: Sampling,
) {
  const draft = createSpanDraft(client, resolved, query);
  const { writer } = draft;
  const columns = createSourceColumns(resolved, writer);
  const traceId = columns.requiredText('traceIdExpression');
  const inSample = oneIn > 1 ? `${HASH}(${traceId}) % ${writer.bind(oneIn, 'UInt32')} = 0` : undefined;
  const limit = ` LIMIT ${writer.bind(MAX_ROWS, 'UInt32')}`;
  const from = (values: readonly string[], where: string) =>
    `SELECT ${values.join(', ')} FROM (${draft.rows()})${where}${limit}`;
  return {
    writer,
    columns,
    /** Identifies a span, and its parent, within all traces. */
    key: `${HASH}(${traceId}, ${columns.requiredText('spanIdExpression')})`,
    parentKey: `${HASH}(${traceId}, ${columns.requiredText('parentSpanIdExpression')})`,
    hasParent: `${columns.requiredText('parentSpanIdExpression')} != ''`,
    /** The spans that match the request. */
    matching: (values: readonly string[]): string => from(values, draft.where(inSample)),
    /** All spans of the same traces in the range. */
    all(values: readonly string[], ...conditions: string[]): string {
      const every = [...conditions, ...(inSample === undefined ? [] : [inSample])];
      return from(values, every.length === 0 ? '' : ` WHERE ${every.map((sql) => `(${sql})`).join(' AND ')}`);
    },
    statement: (sql: string): Statement => ({ sql, parameters: writer.parameters }),
  };
}

export type SampledSpans = ReturnType<typeof createSampledSpans>;

/** Times and durations, for statements that need both. */
export const timeColumns = (columns: SourceColumns): string[] => [
  `${columns.timeNs} AS __start`,
  `${columns.durationNs()} AS __duration`,
];
