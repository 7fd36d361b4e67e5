import type { DashboardBody } from '../schema.ts';

type TileSpec = NonNullable<DashboardBody['tiles']>[number];
type SeriesSpec = NonNullable<TileSpec['series']>[number];

type Position = Pick<TileSpec, 'x' | 'y' | 'w' | 'h'>;
type SeriesOptions = Omit<SeriesSpec, 'type' | 'sourceId' | 'dataSource'>;

/** Column, row, width and height on the 24-column grid. */
export const at = (x: number, y: number, w: number, h: number): Position => ({ x, y, w, h });

const readEvents = (sourceId: string) => (options: SeriesOptions) => ({
  dataSource: 'events' as const,
  sourceId,
  ...options,
});
const readMetrics = (sourceId: string) => (options: SeriesOptions) => ({
  dataSource: 'metrics' as const,
  sourceId,
  ...options,
});

export const logs = readEvents('logs');
export const traces = readEvents('traces');
export const metrics = readMetrics('metrics');

/** The telemetry of Pilothouse itself. */
export const ownLogs = readEvents('pilothouse-logs');
export const ownTraces = readEvents('pilothouse-traces');
export const ownMetrics = readMetrics('pilothouse-metrics');

type SeriesWithSource = ReturnType<typeof logs> | ReturnType<typeof metrics>;

export const tile = (
  type: SeriesSpec['type'],
  id: string,
  name: string,
  position: Position,
  series: (SeriesWithSource | SeriesOptions)[],
  asRatio = false,
): TileSpec => ({
  id,
  name,
  ...position,
  ...(asRatio && { asRatio }),
  series: series.map((options) => ({ type, ...options })),
});

export const note = (id: string, name: string, position: Position, content: string): TileSpec =>
  tile('markdown', id, name, position, [{ content }]);
