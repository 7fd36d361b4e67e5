import { formatCsv } from '../../../parts/format/csv.ts';
import { alignPrevious, type Previous } from '../compare/previous.ts';
import type { Tile, TileData, TileDataByType } from '../tile-types.ts';
import { formatGroup } from './parts.ts';
import { toLines } from './time/time-series.ts';

const PREVIOUS = 'previous period';

/** The data that a tile shows, as CSV: all series with names and units, and times in UTC. Undefined if it has none. */
export function toCsv(tile: Tile, data: TileData, previous?: Previous): string | undefined {
  switch (data.type) {
    case 'markdown':
      return undefined;
    case 'time':
      return formatCsv(listTimeRows(data, tile, previous));
    case 'number': {
      const before = previous?.data?.type === 'number' ? previous.data.series : undefined;
      return formatCsv([
        ['series', 'value', 'unit', ...(before ? [PREVIOUS] : [])],
        ...data.series.map(({ name, value, unit }, index) => [
          name,
          value,
          unit,
          ...(before ? [before[index]?.value] : []),
        ]),
      ]);
    }
    case 'pie':
    case 'bar':
      return formatCsv([
        ['series', 'group', 'value', 'unit'],
        ...data.parts.map(({ name, group, isOthers, value, unit }) => [
          name,
          isOthers ? 'Other' : formatGroup(group),
          value,
          unit,
        ]),
      ]);
    case 'table':
      return formatCsv([data.columns.map(({ name, unit }) => withUnit(name, unit)), ...data.rows]);
    case 'histogram':
      return formatCsv([
        [withUnit('from', data.unit), withUnit('to', data.unit), 'count'],
        ...data.bins.map(({ from, to, count }) => [from, to, count]),
      ]);
    case 'heatmap':
      return formatCsv(listHeatmapRows(data));
    case 'search':
      return formatCsv([
        data.columns.map(({ name }) => name),
        ...data.rows.map(([time, ...cells]) => [formatMoment(Number(time)), ...cells]),
      ]);
  }
}

const formatMoment = (ms: number): string => new Date(ms).toISOString();
const withUnit = (name: string, unit: string | undefined): string => (unit === undefined ? name : `${name} (${unit})`);

function listTimeRows(data: TileDataByType<'time'>, tile: Tile, previous: Previous | undefined): unknown[][] {
  const before = previous?.data?.type === 'time' ? alignPrevious(data, previous.data, previous.shift) : [];
  const columns = toLines(data, tile.config?.fillNulls).flatMap(({ label }, index) => {
    const { unit, values = [] } = data.series[index] ?? {};
    const past = before[index];
    return [
      { name: withUnit(label, unit), values },
      ...(past ? [{ name: withUnit(`${label}, ${PREVIOUS}`, unit), values: past }] : []),
    ];
  });
  return [
    ['time', ...columns.map(({ name }) => name)],
    ...data.buckets.map((at, index) => [formatMoment(at), ...columns.map(({ values }) => values[index])]),
  ];
}

function listHeatmapRows({ mode, unit, rows, buckets }: TileDataByType<'heatmap'>): unknown[][] {
  const names = rows.map(({ group, isOthers, from, to }) =>
    mode === 'series' ? (isOthers ? 'Other' : formatGroup(group ?? [])) : withUnit(`${from} to ${to}`, unit),
  );
  return [
    ['time', ...names],
    ...buckets.map((at, index) => [formatMoment(at), ...rows.map(({ values }) => values[index])]),
  ];
}
