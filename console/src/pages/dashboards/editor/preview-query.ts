import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Operations, QueryChartSeriesBody } from '../../../api/generated.ts';
import { type DataOf, gate, type Series, type Tile, type Window } from '../queries.ts';

type Granularity = NonNullable<QueryChartSeriesBody['granularity']>;

const SECOND_MS = 1000;
const LADDER: [Granularity, number][] = [
  ['15s', 15],
  ['30s', 30],
  ['1m', 60],
  ['5m', 300],
  ['15m', 900],
  ['30m', 1800],
  ['1h', 3600],
  ['2h', 7200],
  ['6h', 21_600],
  ['12h', 43_200],
  ['1d', 86_400],
  ['2d', 172_800],
  ['7d', 604_800],
  ['30d', 2_592_000],
];
const MOST_BUCKETS = 60;
/** As many as one question may hold. */
export const MOST_PREVIEWED = 5;

/** What a tile that is not saved yet would show over time. */
export const previewQuery = (api: Operations, organizationId: string, tile: Tile, { start, end, zone }: Window) => {
  const series = tile.series.slice(0, MOST_PREVIEWED).map(asked);
  return queryOptions({
    queryKey: [organizationId, 'tile-data', 'preview', JSON.stringify([series, tile.asRatio]), start, end, zone],
    queryFn: ({ signal }): Promise<DataOf<'time'>> =>
      gate.run(signal, async () => {
        const [granularity, step] = stepOf(end - start);
        const isRatio = tile.asRatio && series.length === 2;
        const rows = await api.queryChartSeries(
          {
            body: {
              series,
              startTime: start,
              endTime: end - 1,
              granularity,
              ...(isRatio ? { seriesReturnType: 'ratio' } : {}),
            },
          },
          { signal },
        );
        const names = isRatio ? [tile.name || 'ratio'] : tile.series.map(nameOf);
        return timeDataOf(rows, names, { start, end, zone }, granularity, step);
      }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 20_000,
    retry: false,
  });
};

type Asked = QueryChartSeriesBody['series'][number];

const asked = ({
  sourceId = '',
  aggFn = 'count',
  where,
  whereLanguage,
  groupBy,
  field,
  level,
  metricName,
  metricDataType,
}: Series): Asked => ({
  sourceId,
  aggFn,
  where,
  whereLanguage,
  groupBy,
  ...(field ? { field } : {}),
  ...(level === undefined ? {} : { level }),
  ...(metricName ? { metricName } : {}),
  ...(metricDataType ? { metricDataType } : {}),
});

const nameOf = ({ alias, aggFn, field, metricName }: Series): string => {
  const of = metricName ?? field ?? '';
  return alias || (of === '' ? (aggFn ?? '') : `${aggFn}(${of})`);
};

function stepOf(rangeMs: number): [Granularity, number] {
  const [granularity, seconds] = LADDER.find(([, step]) => rangeMs / (step * SECOND_MS) <= MOST_BUCKETS) ?? [
    '30d',
    2_592_000,
  ];
  return [granularity, seconds * SECOND_MS];
}

interface Row {
  ts_bucket?: number;
  group?: string[];
  [name: string]: unknown;
}

/** Rows leave out what has no value: every bucket of the range is put back. */
function timeDataOf(
  rows: Row[],
  names: string[],
  { start, end, zone }: Window,
  granularity: string,
  step: number,
): DataOf<'time'> {
  const first = Math.floor(start / step) * step;
  const buckets = Array.from({ length: Math.ceil((end - first) / step) }, (_, index) => first + index * step);
  const groups = [...new Set(rows.map(({ group = [] }) => JSON.stringify(group)))];
  const series = names.flatMap((name, at) =>
    groups.map((id) => {
      const values: (number | null)[] = buckets.map(() => null);
      for (const row of rows) {
        const value = row[`series_${at}.data`];
        if (JSON.stringify(row.group ?? []) !== id || typeof value !== 'number') continue;
        values[Math.round(((row.ts_bucket ?? first) - first) / step)] = value;
      }
      return { name, group: JSON.parse(id) as string[], isOthers: false, values };
    }),
  );
  return {
    type: 'time',
    start: first,
    end: first + buckets.length * step,
    timezone: zone,
    granularity,
    buckets,
    series: series.filter(({ values }) => values.some((value) => value !== null)),
    groups: { shown: groups.length, total: groups.length },
  };
}
