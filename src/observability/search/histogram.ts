import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Charts } from '../charts/charts.ts';
import { createDraft } from '../charts/queries/draft.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import type { TelemetryQueries } from '../charts/telemetry-queries.ts';
import type { HistogramBody } from './schema.ts';
import { parseRange, resolveEvents, toQuery } from './search-query.ts';

/** More severities or status codes are counted together. */
const MAX_GROUPS = 20;

interface Options {
  clock: Clock;
  queries: TelemetryQueries;
  charts: Pick<Charts, 'previewTile'>;
}

/** The number of matching rows over time, by severity or status code: the data of a time tile. */
export function createSearchHistogram({ clock, queries, charts }: Options) {
  return async (client: QueryClient, body: HistogramBody) => {
    const resolved = await resolveEvents(queries, client.organizationId, body.sourceId);
    const range = parseRange(clock.now(), body);
    const query = toQuery(client.organizationId, resolved, body, range);
    // Throws if a condition is not valid, with the name of the member of this request.
    createDraft(query);
    const { sourceId, granularity = 'auto', points, timezone = 'UTC' } = body;
    const { where, whereLanguage, filters } = query;
    const series = {
      type: 'time' as const,
      aggFn: 'count' as const,
      sourceId,
      where,
      whereLanguage,
      filters,
      groupBy: chooseGroup(resolved),
    };
    const view = { ...range, granularity, points, timezone, groups: MAX_GROUPS, withOthers: true, limit: 0 };
    const data = await charts.previewTile(client, { asRatio: false, series: [series] }, view);
    if (data.type !== 'time') throw new AppError('internal', 'A histogram is a time chart');
    return data;
  };
}

/** The severity of logs or the status code of spans, if the table has it. */
function chooseGroup({ source, table }: ResolvedSource): string[] {
  const { kind, severityTextExpression, statusCodeExpression } = source;
  const given = kind === 'log' ? severityTextExpression : statusCodeExpression;
  if (given !== undefined && given !== '') return [given];
  const name = kind === 'log' ? 'SeverityText' : 'StatusCode';
  return table.columns.some((column) => column.name === name) ? [name] : [];
}
