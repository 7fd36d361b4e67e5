import { queryOptions } from '@tanstack/react-query';
import type { ListMetricPointsBody, Operations, TileFilter } from '../../../../api/generated.ts';
import { isTraceId } from '../../../traces/trace-link.tsx';
import { AGGREGATIONS } from '../../constraints.ts';
import { applyConditions } from '../../drill-down/drill-down.ts';
import { type Series, tileRequests } from '../../queries.ts';
import type { Range } from '../../time-window/range.ts';

/** Of each metric. */
const MAX_POINTS = 100;
const MAX_METRICS = 5;

/** A measurement that leads to its trace. */
export interface Exemplar {
  /** Epoch milliseconds. */
  time: number;
  value: number;
  traceId: string;
  spanId: string;
  metricName: string;
  service: string;
}

/** The requests for the exemplars of metric series, one for each metric and condition. */
function toRequests(
  series: readonly Series[],
  { start, end }: Range,
  conditions: readonly TileFilter[],
): ListMetricPointsBody[] {
  const bodies = series.flatMap((one): ListMetricPointsBody[] => {
    const { metricName, sourceId, aggFn = 'count' } = one;
    const { metricDataType = AGGREGATIONS[aggFn].defaultDataType } = one;
    const filtered = applyConditions(one, conditions);
    if (metricName === undefined || metricName === '' || metricDataType === 'summary' || !filtered) return [];
    const { where, whereLanguage } = filtered.series;
    return [
      {
        metricName,
        metricDataType,
        ...(sourceId === undefined ? {} : { sourceId }),
        ...(where.trim() === '' ? {} : { where, whereLanguage }),
        filters: filtered.filters.map((condition) => ({ type: 'sql' as const, condition })),
        startTime: new Date(start).toISOString(),
        endTime: new Date(end).toISOString(),
        withExemplars: true,
        maxResults: MAX_POINTS,
      },
    ];
  });
  return [...new Map(bodies.map((body) => [JSON.stringify(body), body])).values()].slice(0, MAX_METRICS);
}

/** The exemplars of the metrics of a tile, newest first. A chart is useful without them, so failures are not shown. */
export const exemplarsQuery = (
  api: Operations,
  organizationId: string,
  series: readonly Series[],
  range: Range,
  conditions: readonly TileFilter[],
) => {
  const requests = toRequests(series, range, conditions);
  return queryOptions({
    queryKey: [organizationId, 'exemplars', JSON.stringify(requests)],
    queryFn: async ({ signal }) => {
      const results = await Promise.all(
        requests.map(async (body) => {
          const points = await tileRequests.run(signal, () => api.listMetricPoints({ body }, { signal }));
          return points.flatMap(({ service = '', exemplars }) =>
            exemplars.flatMap(({ time, value, traceId, spanId }): Exemplar[] =>
              value !== null && isTraceId(traceId)
                ? [{ time: Date.parse(time), value, traceId, spanId, metricName: body.metricName, service }]
                : [],
            ),
          );
        }),
      );
      return results.flat();
    },
    enabled: requests.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
};
