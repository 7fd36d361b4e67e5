import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { queryError } from '../../charts/queries/draft.ts';
import type { Table } from '../../charts/queries/series-query.ts';
import type { QueryClient } from '../../charts/shared-queries.ts';
import type { TelemetryQueries } from '../../charts/telemetry-queries.ts';
import { quoteName } from '../../expressions/writer.ts';
import { formatEquality } from '../context-scopes.ts';
import { formatCursor, parseCursor } from '../cursor.ts';
import { formatNanos, toNanos } from '../nanos.ts';
import { readPage } from '../page.ts';
import { parseRange, toQuery } from '../search-query.ts';
import {
  DEFAULT_POINTS,
  EXEMPLAR_COLUMNS,
  type MetricPoint,
  type MetricPointsBody,
  POINT_COLUMNS,
} from './point-schema.ts';

const WAIT_MS = 30_000;
const HAS_EXEMPLARS = `length("${EXEMPLAR_COLUMNS.time}") > 0`;
/** A point without a start has this one. */
const NO_TIME = '1970-01-01T00:00:00.000000000Z';

export type MetricPoints = ReturnType<typeof createMetricPoints>;

/** The data points of a metric as they were received, with their exemplars, newest first. */
export function createMetricPoints({ clock, queries }: { clock: Clock; queries: TelemetryQueries }) {
  return async (client: QueryClient, body: MetricPointsBody) => {
    const { sourceId = 'metrics', metricDataType, metricName, withExemplars = false, filters = [] } = body;
    const notFound = () => new AppError('not_found', 'Source not found');
    const [resolved] = await queries.resolveTables(client.organizationId, { sourceId, metricDataType }, notFound);
    if (resolved?.source.kind !== 'metric') throw queryError('sourceId', 'Points need a source of metrics');
    const { table } = resolved;
    const hasExemplars = hasColumns(table, Object.values(EXEMPLAR_COLUMNS));
    if (withExemplars && !hasExemplars)
      throw queryError('withExemplars', `Points of the type ${metricDataType} have no exemplars`);
    const name = nameQuery(body);
    const range = parseRange(clock.now(), body);
    const start = body.cursor === undefined ? { range, before: toNanos(range.endMs) } : parseCursor(body.cursor, name);
    const own = [formatEquality('MetricName', metricName), ...(withExemplars ? [HAS_EXEMPLARS] : [])];
    const conditions = own.map((condition) => ({ type: 'sql' as const, condition }));
    const matching = { ...body, sourceId, filters: [...filters, ...conditions] };
    const query = toQuery(client.organizationId, resolved, matching, start.range);
    const members = POINT_COLUMNS.filter(([, column]) => hasColumns(table, [column]));
    const exemplarColumns = hasExemplars ? Object.entries(EXEMPLAR_COLUMNS) : [];
    const select = [...members, ...exemplarColumns].map(([, column]) => quoteName(column)).join(', ');
    const limits = { rows: body.maxResults ?? DEFAULT_POINTS, waitMs: WAIT_MS };
    const { rows, next } = await readPage({ queries, client, query, select }, start, limits);
    return {
      data: rows.map(({ nanos, values }) => {
        const shown = Object.fromEntries(members.map(([member], index) => [member, values[index]]));
        if (shown.startTime === NO_TIME) delete shown.startTime;
        const lists = values.slice(members.length) as unknown[][];
        return { time: formatNanos(nanos), ...shown, exemplars: toExemplars(lists) };
      }),
      nextCursor: next ? formatCursor(next, name) : null,
    };
  };
}

const hasColumns = ({ columns }: Table, names: readonly string[]): boolean =>
  names.every((name) => columns.some((column) => column.name === name));

/** One list for each column of `EXEMPLAR_COLUMNS`. */
function toExemplars(lists: readonly unknown[][]): MetricPoint['exemplars'] {
  const [times = []] = lists;
  return times.map(
    (_, index) =>
      Object.fromEntries(
        Object.keys(EXEMPLAR_COLUMNS).map((member, column) => [member, lists[column]?.[index]]),
      ) as unknown as MetricPoint['exemplars'][number],
  );
}

/** What a cursor depends on. */
function nameQuery(body: MetricPointsBody): string {
  const { sourceId, metricName, metricDataType, where, whereLanguage, filters = [], withExemplars } = body;
  const { startTime, endTime } = body;
  const conditions = filters.map(({ condition }) => condition);
  return JSON.stringify([
    ...[sourceId, metricName, metricDataType, where, whereLanguage, conditions, withExemplars],
    ...[startTime, endTime],
  ]);
}
