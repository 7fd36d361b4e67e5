import { queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../../api/generated.ts';
import { combineConditions } from '../../search/conditions.ts';
import { quoteText } from '../../search/quote-text.ts';
import type { TracesSearch } from '../../traces/search.ts';
import { findTraceSources, isTraceId } from '../../traces/trace-link.tsx';
import { tileRequests } from '../queries.ts';
import type { Source } from '../where/suggestions.ts';
import type { ValueRows } from './drill-down.ts';

/** The traces of these spans. Undefined if their conditions cannot be one condition. */
export function toSpanSearch({ source, search }: ValueRows): TracesSearch | undefined {
  const { where = '', lang, filters = [], from, to } = search;
  const condition = combineConditions(where, lang ?? 'lucene', filters);
  if (!condition || from === undefined || to === undefined) return undefined;
  return {
    source: source.id,
    ...(condition.where.trim() === ''
      ? {}
      : { where: condition.where, ...(condition.whereLanguage === 'sql' ? { lang: 'sql' as const } : {}) }),
    from,
    to,
  };
}

const MAX_TRACES = 50;
/** A span may start long before its logs, or end after them. */
const MARGIN_MS = 15 * 60_000;

/** The traces of the newest of these logs; null if none of them has a trace id. */
export const tracesOfLogsQuery = (
  api: Operations,
  organizationId: string,
  { source, search }: ValueRows,
  sources: readonly Source[],
) =>
  queryOptions({
    queryKey: [organizationId, 'tile-data', 'traces-of-logs', search],
    queryFn: async ({ signal }): Promise<{ search: TracesSearch; isAll: boolean } | null> => {
      const { where = '', lang, filters = [], from = 0, to = 0 } = search;
      const column = source.traceIdExpression || 'TraceId';
      const conditions = [...filters, `notEmpty(toString(${column}))`];
      const rows = await tileRequests.run(signal, () =>
        api.searchRows(
          {
            body: {
              sourceId: source.id,
              where,
              whereLanguage: lang ?? 'lucene',
              filters: conditions.map((condition) => ({ type: 'sql' as const, condition })),
              startTime: new Date(from).toISOString(),
              endTime: new Date(to).toISOString(),
              select: `${column} AS traceId`,
              maxResults: MAX_TRACES,
            },
          },
          { signal },
        ),
      );
      const ids = [...new Set(rows.map(({ traceId }) => traceId).filter(isTraceId))];
      if (ids.length === 0) return null;
      const { source: traceSource } = findTraceSources(sources, source.id);
      const spans = sources.find(({ id }) => id === (traceSource ?? 'traces'));
      return {
        search: {
          ...(traceSource ? { source: traceSource } : {}),
          where: `${spans?.traceIdExpression || 'TraceId'} IN (${ids.map(quoteText).join(', ')})`,
          lang: 'sql',
          from: from - MARGIN_MS,
          to: to + MARGIN_MS,
        },
        isAll: rows.length < MAX_TRACES,
      };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
    retry: false,
  });
