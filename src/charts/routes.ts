import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { compressResponse } from '../http/compression.ts';
import { dashboardResponse } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { type Clock, parseDateTime } from '../kernel/clock.ts';
import { rejectViolations } from '../kernel/errors.ts';
import { DASHBOARD_READERS } from '../kernel/roles.ts';
import { ResourcePath } from '../sources/id.ts';
import { chartRows } from './chart-rows.ts';
import type { Caller, Charts, View } from './charts.ts';
import {
  ChartRow,
  ChartSeriesBody,
  ColumnRecord,
  ColumnsQuery,
  TileAnswer,
  TileDrawingBody,
  TilePath,
  TileQuery,
} from './schema.ts';
import { completedSeries, seriesViolations } from './series.ts';

const tags = ['Data'];

const HOUR_MS = 3_600_000;
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
          description: 'Up to five series over one range, in buckets of time, merged by bucket and group.',
          body: ChartSeriesBody,
          response: dashboardResponse(Type.Array(ChartRow)),
        },
      },
      async (request, reply) => {
        const { startTime, endTime, granularity = 'auto', seriesReturnType } = request.body;
        refuseBackwards('startTime', startTime, endTime);
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
        // Both ends belong to the range here, as in the public interface.
        const range = { startMs: startTime, endMs: endTime + 1 };
        const { buckets, points } = await charts.series(asker(request, reply), series, range, {
          granularity,
          isRatio: seriesReturnType === 'ratio',
        });
        return { data: chartRows(buckets, points, seriesReturnType === 'column' ? 'column' : undefined, groupBy) };
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
          description: 'The tile as it is drawn, over any range.',
          params: TilePath,
          querystring: TileQuery,
          response: dashboardResponse(TileAnswer),
        },
      },
      async (request, reply) => {
        const { groups, others, limit, ...rest } = request.query;
        const { id, tileId } = request.params;
        const view = viewOf(clock.now(), {
          ...rest,
          groups: groups === undefined ? undefined : Number(groups),
          others: others === 'true',
          limit: limit === undefined ? undefined : Number(limit),
        });
        return { data: await charts.tile(asker(request, reply), id, tileId, view) };
      },
    );

    app.post(
      '/api/v2/charts/tile',
      {
        config: { operation: 'drawTile', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Draw a tile that is not saved',
          description:
            'A tile as a dashboard holds it, and the range beside it; answers what a saved one would show. Stores nothing.',
          body: TileDrawingBody,
          response: dashboardResponse(TileAnswer),
        },
      },
      async (request, reply) => {
        const { series, asRatio = false } = request.body;
        rejectViolations(seriesViolations(series, ''));
        const view = viewOf(clock.now(), request.body);
        const tile = { asRatio, series: series.map(completedSeries) };
        return { data: await charts.draw(asker(request, reply), tile, view) };
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
          description:
            'Those its table has in the engine, and the keys of maps and names of metrics that the range holds.',
          params: ResourcePath,
          querystring: ColumnsQuery,
          response: dashboardResponse(Type.Array(ColumnRecord)),
        },
      },
      async (request, reply) => {
        const { metricDataType, ...asked } = request.query;
        const { startMs, endMs } = viewOf(clock.now(), asked);
        const about = { startMs, endMs, metricDataType };
        return { data: await charts.columns(asker(request, reply), request.params.id, about) };
      },
    );
  };
}

interface Asked {
  start?: string | number | undefined;
  end?: string | number | undefined;
  granularity?: View['granularity'] | undefined;
  timezone?: string | undefined;
  groups?: number | undefined;
  others?: boolean | undefined;
  limit?: number | undefined;
}

/** The last hour when no range is given. */
function viewOf(now: number, asked: Asked): View {
  const { start, end, granularity = 'auto', timezone = 'UTC', groups, others = false, limit = SEARCH_ROWS } = asked;
  const endMs = end === undefined ? now : moment('end', end);
  const startMs = start === undefined ? endMs - HOUR_MS : moment('start', start);
  refuseBackwards('start', startMs, endMs);
  return { startMs, endMs, granularity, timezone, groups, withOthers: others, limit };
}

/** Whoever asks; a client that goes away takes its queries along. */
function asker(request: FastifyRequest, reply: object): Caller {
  const controller = new AbortController();
  const { raw } = reply as FastifyReply;
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  const { organizationId, credentialId } = getIdentity(request);
  return { organizationId, credentialId, signal: controller.signal };
}

function moment(path: string, text: string | number): number {
  if (typeof text === 'number') return text;
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : parseDateTime(text, { offset: 'required' });
  if (ms === undefined)
    rejectViolations([
      { path, rule: 'The value must be epoch milliseconds or an ISO 8601 date-time with an offset or Z', value: text },
    ]);
  return ms ?? 0;
}

function refuseBackwards(path: string, startMs: number, endMs: number): void {
  if (startMs >= endMs) rejectViolations([{ path, rule: 'The start must lie before the end', value: startMs }]);
}
