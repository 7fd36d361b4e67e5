import Type from 'typebox';
import { DASHBOARD_READERS } from '../../kernel/access/roles.ts';
import { rejectViolations } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getClient } from '../../platform/http/requests/disconnect.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { compressResponse } from '../../platform/http/responses/compression.ts';
import { DashboardFailure, dashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { toChartRows } from './chart-rows.ts';
import type { Charts } from './charts.ts';
import { listFilterViolations, parseFilters } from './filter-schema.ts';
import type { TileView } from './queries/view.ts';
import {
  ChartRow,
  ChartSeriesBody,
  ColumnRecord,
  ColumnsQuery,
  PartialBuckets,
  TilePath,
  TilePreviewBody,
  TileQuery,
  TileResponse,
} from './schema.ts';
import { listContentViolations, normalizeContent } from './tiles/tile-content.ts';
import { parseRange, rejectEmptyRange } from './time-range.ts';

const tags = ['Data'];

const SEARCH_ROWS = 100;

export function chartRoutes({ charts, clock }: { charts: Charts; clock: Clock }): Routes {
  return (app) => {
    app.post(
      '/api/v2/charts/series',
      {
        config: { operation: 'queryChartSeries', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Query chart series',
          description: 'Returns up to five series over one time range, with one row per time bucket and group.',
          body: ChartSeriesBody,
          response: {
            200: Type.Object(
              { data: Type.Array(ChartRow), partialBuckets: PartialBuckets },
              { description: 'Success' },
            ),
            404: { ...DashboardFailure, description: 'A source of a series does not exist' },
          },
        },
      },
      async (request, reply) => {
        const { startTime, endTime, granularity = 'auto', seriesReturnType } = request.body;
        rejectEmptyRange('startTime', startTime, endTime);
        const series = request.body.series.map((one) => ({
          ...one,
          type: 'time' as const,
          where: one.where ?? '',
          whereLanguage: one.whereLanguage ?? ('lucene' as const),
          groupBy: one.groupBy ?? [],
        }));
        const groupBy = series[0]?.groupBy ?? [];
        const differs = series.findIndex((one) => JSON.stringify(one.groupBy) !== JSON.stringify(groupBy));
        if (differs > 0) {
          const path = `series[${differs}].groupBy`;
          rejectViolations([
            { path, rule: 'All series must have the same groupBy fields', value: series[differs]?.groupBy },
          ]);
        }
        // The end is inclusive, as in the public interface.
        const range = { startMs: startTime, lastMs: endTime };
        const { buckets, partialBuckets, points } = await charts.querySeries(getClient(request, reply), series, range, {
          granularity,
          isRatio: seriesReturnType === 'ratio',
        });
        return {
          data: toChartRows(buckets, points, seriesReturnType === 'column' ? 'column' : undefined, groupBy),
          ...(partialBuckets.length > 0 && { partialBuckets }),
        };
      },
    );

    app.get(
      '/api/v2/dashboards/:id/tiles/:tileId/data',
      {
        config: { operation: 'getTileData', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Get the data of a tile',
          description: 'Runs the queries of a stored tile over any time range.',
          params: TilePath,
          querystring: TileQuery,
          response: dashboardResponse(TileResponse),
        },
      },
      async (request, reply) => {
        const { points, groups, others, limit, filters, ...rest } = request.query;
        const { id, tileId } = request.params;
        const view = parseView(clock.now(), {
          ...rest,
          points: points === undefined ? undefined : Number(points),
          groups: groups === undefined ? undefined : Number(groups),
          others: others === 'true',
          limit: limit === undefined ? undefined : Number(limit),
        });
        const given = parseFilters(filters);
        return { data: await charts.queryTile(getClient(request, reply), id, tileId, view, given) };
      },
    );

    app.post(
      '/api/v2/charts/tile',
      {
        config: { operation: 'drawTile', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Preview a tile',
          description:
            'Returns the data of a tile that is not stored. The body is a tile as in a dashboard, plus the time range.',
          body: TilePreviewBody,
          response: dashboardResponse(TileResponse),
        },
      },
      async (request, reply) => {
        const { filters = [] } = request.body;
        rejectViolations([...listContentViolations(request.body, ''), ...listFilterViolations(filters)]);
        const view = parseView(clock.now(), request.body);
        const tile = normalizeContent(request.body);
        return { data: await charts.previewTile(getClient(request, reply), tile, view, filters) };
      },
    );

    app.get(
      '/api/v2/sources/:id/columns',
      {
        config: { operation: 'listSourceColumns', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags: ['Sources'],
          summary: 'List the columns of a source',
          description: 'The columns of the table, with the map keys and metric names that occur in the time range.',
          params: ResourcePath,
          querystring: ColumnsQuery,
          response: dashboardResponse(Type.Array(ColumnRecord)),
        },
      },
      async (request, reply) => {
        const { metricDataType, ...input } = request.query;
        const { startMs, endMs } = parseView(clock.now(), input);
        const options = { startMs, endMs, metricDataType };
        return { data: await charts.listColumns(getClient(request, reply), request.params.id, options) };
      },
    );
  };
}

interface ViewInput {
  start?: string | number | undefined;
  end?: string | number | undefined;
  granularity?: TileView['granularity'] | undefined;
  points?: number | undefined;
  timezone?: string | undefined;
  groups?: number | undefined;
  others?: boolean | undefined;
  limit?: number | undefined;
}

function parseView(now: number, input: ViewInput): TileView {
  const { granularity = 'auto', points, timezone = 'UTC', groups, others = false } = input;
  return {
    ...parseRange(now, input),
    granularity,
    points,
    timezone,
    groups,
    withOthers: others,
    limit: input.limit ?? SEARCH_ROWS,
  };
}
