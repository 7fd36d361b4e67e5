import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { DEFAULT_OPERATIONS } from './limits.ts';
import type { OperationsRecord, Sampling } from './schema.ts';
import { createSampledSpans, type SpanQuery, timeColumns } from './span-query.ts';

/**
 * Operations by self time. The children of each span are first reduced to intervals that do not overlap, which are then
 * cut to the span: children that run at the same time are subtracted once.
 */
export function planOperations(
  client: QueryClient,
  resolved: ResolvedSource,
  { limit = DEFAULT_OPERATIONS, ...query }: SpanQuery & { limit?: number },
  sampling: Sampling,
) {
  const { columns, key, parentKey, hasParent, matching, all, writer, statement } = createSampledSpans(
    client,
    resolved,
    query,
    sampling,
  );
  const spans = matching([
    `${key} AS __key`,
    ...timeColumns(columns),
    `${columns.text('serviceNameExpression')} AS __service`,
    `${columns.requiredText('spanNameExpression')} AS __name`,
    `${columns.isError()} AS __is_error`,
  ]);
  const children = all([`${parentKey} AS __parent`, ...timeColumns(columns)], hasParent);
  const separate =
    'SELECT __parent, greatest(__start, max(__start + __duration) OVER earlier) AS __from, __start + __duration AS __to ' +
    `FROM (${children}) WINDOW earlier AS ` +
    '(PARTITION BY __parent ORDER BY __start, __duration ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)';
  const covered = `SELECT __parent, groupArray((__from, __to)) AS __parts FROM (${separate}) WHERE __to > __from GROUP BY __parent`;
  const within =
    'arraySum(arrayMap(part -> greatest(0, least(part.2, __start + __duration) - greatest(part.1, __start)), __parts))';
  const timed =
    `SELECT __service, __name, __is_error, __duration, __duration - least(__duration, ${within}) AS __self ` +
    `FROM (${spans}) AS s LEFT JOIN (${covered}) AS c ON s.__key = c.__parent`;
  const sql =
    'SELECT __service, __name, count(), countIf(__is_error), sum(toFloat64(__duration)), sum(toFloat64(__self)) AS __total_self, ' +
    'quantiles(0.5, 0.95)(__duration), count() OVER () AS __operations ' +
    `FROM (${timed}) GROUP BY __service, __name ` +
    `ORDER BY __total_self DESC, __service, __name LIMIT ${writer.bind(limit, 'UInt32')}`;
  return { statement: statement(sql), collect: (rows: unknown[][]) => collectOperations(rows, sampling) };
}

function collectOperations(
  rows: unknown[][],
  { oneIn }: Sampling,
): Pick<OperationsRecord, 'operations' | 'totalOperations'> {
  const operations = rows.map(([service, name, count, errors, total, self, quantiles]) => {
    const [p50Ns = 0, p95Ns = 0] = (quantiles as unknown[]).map(Number);
    return {
      service: String(service),
      name: String(name),
      count: Number(count) * oneIn,
      errors: Number(errors) * oneIn,
      totalNs: Number(total) * oneIn,
      selfTimeNs: Number(self) * oneIn,
      p50Ns,
      p95Ns,
    };
  });
  return { operations, totalOperations: Number(rows[0]?.[7] ?? 0) };
}
