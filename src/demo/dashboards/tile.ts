import type { DashboardSpec } from '../../fleet/schema.ts';

type TileSpec = NonNullable<DashboardSpec['tiles']>[number];
type SeriesSpec = TileSpec['series'][number];

type Place = Pick<TileSpec, 'x' | 'y' | 'w' | 'h'>;
type Given = Omit<SeriesSpec, 'type' | 'sourceId' | 'dataSource'>;

/** Columns, rows, width and height on the grid of 24. */
export const at = (x: number, y: number, w: number, h: number): Place => ({ x, y, w, h });

export const logs = (given: Given) => ({ dataSource: 'events' as const, sourceId: 'logs', ...given });
export const traces = (given: Given) => ({ dataSource: 'events' as const, sourceId: 'traces', ...given });
export const metrics = (given: Given) => ({ dataSource: 'metrics' as const, sourceId: 'metrics', ...given });

type Sourced = ReturnType<typeof logs> | ReturnType<typeof metrics>;

export const tile = (
  type: SeriesSpec['type'],
  id: string,
  name: string,
  place: Place,
  series: (Sourced | Given)[],
  asRatio = false,
): TileSpec => ({
  id,
  name,
  ...place,
  ...(asRatio && { asRatio }),
  series: series.map((one) => ({ type, ...one })),
});

export const note = (id: string, name: string, place: Place, content: string): TileSpec =>
  tile('markdown', id, name, place, [{ content }]);

/** Durations of spans are nanoseconds. */
export const MILLISECONDS = 'Duration / 1000000';
