import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { dashboardAnswer } from '../http/envelopes.ts';
import { callerOf } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { type Clock, parseDateTime } from '../kernel/clock.ts';
import { refuse } from '../kernel/errors.ts';
import { READ } from './authentication.ts';
import { chartRows } from './queries/chart-rows.ts';
import { ChartRow, ChartSeriesBody, TileAnswer, TilePath, TileQuery } from './queries/chart-schema.ts';
import type { Caller, Charts } from './queries/charts.ts';

const tags = ['Data'];

const HOUR_MS = 3_600_000;
const SEARCH_ROWS = 100;

export function chartRoutes({ charts, clock }: { charts: Charts; clock: Clock }): Routes {
  return (app) => {
    app.post(
      '/api/v2/charts/series',
      {
        config: { operation: 'queryChartSeries', roles: READ },
        schema: {
          tags,
          summary: 'Query chart series',
          description: 'Up to five series over one range, in buckets of time, merged by bucket and group.',
          body: ChartSeriesBody,
          response: dashboardAnswer(Type.Array(ChartRow)),
        },
      },
      async (request, reply) => {
        const { startTime, endTime, granularity = 'auto', seriesReturnType } = request.body;
        refuseBackwards('request body.startTime', startTime, endTime);
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
          const path = `request body.series[${differs}].groupBy`;
          refuse([{ path, rule: 'All series must have the same groupBy fields', value: series[differs]?.groupBy }]);
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
        config: { operation: 'getTileData', roles: READ },
        schema: {
          tags,
          summary: 'Get the data of a tile',
          description: 'The tile as it is drawn, over any range.',
          params: TilePath,
          querystring: TileQuery,
          response: dashboardAnswer(TileAnswer),
        },
      },
      async (request, reply) => {
        const { start, end, granularity = 'auto', timezone = 'UTC', groups, others, limit } = request.query;
        const endMs = end === undefined ? clock.now() : moment('query.end', end);
        const startMs = start === undefined ? endMs - HOUR_MS : moment('query.start', start);
        refuseBackwards('query.start', startMs, endMs);
        const { id, tileId } = request.params;
        const data = await charts.tile(asker(request, reply), id, tileId, {
          startMs,
          endMs,
          granularity,
          timezone,
          groups: groups === undefined ? undefined : Number(groups),
          withOthers: others === 'true',
          limit: limit === undefined ? SEARCH_ROWS : Number(limit),
        });
        return { data };
      },
    );
  };
}

/** Whoever asks; a client that goes away takes its queries along. */
function asker(request: FastifyRequest, reply: object): Caller {
  const controller = new AbortController();
  const { raw } = reply as FastifyReply;
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  const { organizationId, credentialId } = callerOf(request);
  return { organizationId, credentialId, signal: controller.signal };
}

function moment(path: string, text: string): number {
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : parseDateTime(text, { offset: 'required' });
  if (ms === undefined)
    refuse([
      { path, rule: 'The value must be epoch milliseconds or an ISO 8601 date-time with an offset or Z', value: text },
    ]);
  return ms ?? 0;
}

function refuseBackwards(path: string, startMs: number, endMs: number): void {
  if (startMs >= endMs) refuse([{ path, rule: 'The start must lie before the end', value: startMs }]);
}
