import Type, { type Static } from 'typebox';
import { isStorable, STORABLE_RULE } from '../kernel/text.ts';
import { METRIC_DATA_TYPES } from './source.ts';

export const SERIES_TYPES = ['time', 'table', 'number', 'search', 'markdown'] as const;
export const AGGREGATIONS = [
  'avg',
  'count',
  'count_distinct',
  'last_value',
  'max',
  'min',
  'quantile',
  'sum',
  'any',
  'none',
  'increase',
  'rate',
] as const;
/** Aggregations to suggest for logs and traces, and for metrics. The OpenAPI document publishes them as `x-suggested`, which the console reads. */
const SUGGESTED_AGGREGATIONS: Record<'events' | 'metrics', readonly (typeof AGGREGATIONS)[number][]> = {
  events: ['count', 'sum', 'avg', 'min', 'max', 'quantile', 'count_distinct', 'last_value', 'any'],
  metrics: ['avg', 'sum', 'min', 'max', 'count', 'quantile', 'increase', 'rate', 'last_value'],
};
export const WHERE_LANGUAGES = ['lucene', 'sql'] as const;

export const GRID_COLUMNS = 24;

const text = (options: { minLength?: number; maxLength: number; description?: string }) =>
  Type.Refine(Type.String(options), isStorable, () => STORABLE_RULE);

/** Ids are ours (24 hex characters) or a file's own. */
export const isDashboardId = (id: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(id);
export const DashboardId = Type.Refine(
  Type.String(),
  (id) => typeof id !== 'string' || isDashboardId(id),
  () => 'The value must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -',
);

export const SeriesBody = Type.Object({
  type: Type.Enum([...SERIES_TYPES]),
  dataSource: Type.Optional(Type.Enum(['events', 'metrics'])),
  aggFn: Type.Optional(Type.Enum([...AGGREGATIONS], { 'x-suggested': SUGGESTED_AGGREGATIONS })),
  field: Type.Optional(text({ maxLength: 10_000 })),
  groupBy: Type.Optional(Type.Array(text({ maxLength: 10_000 }), { maxItems: 10 })),
  where: Type.Optional(text({ maxLength: 10_000 })),
  whereLanguage: Type.Optional(Type.Enum([...WHERE_LANGUAGES])),
  sourceId: Type.Optional(text({ maxLength: 64 })),
  metricName: Type.Optional(text({ maxLength: 1024 })),
  metricDataType: Type.Optional(Type.Enum([...METRIC_DATA_TYPES])),
  level: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Which quantile' })),
  alias: Type.Optional(text({ maxLength: 1024 })),
  displayType: Type.Optional(Type.Enum(['line', 'stacked_bar'])),
  sortOrder: Type.Optional(Type.Enum(['asc', 'desc'])),
  numberFormat: Type.Optional(Type.Object({}, { additionalProperties: true })),
  content: Type.Optional(text({ maxLength: 50_000, description: 'Markdown' })),
  fields: Type.Optional(Type.Array(text({ maxLength: 10_000 }), { maxItems: 100 })),
});

export const TileBody = Type.Object({
  id: Type.Optional(text({ minLength: 1, maxLength: 36 })),
  name: Type.Optional(text({ maxLength: 1024 })),
  asRatio: Type.Optional(Type.Boolean()),
  x: Type.Integer({ minimum: 0, maximum: GRID_COLUMNS - 1 }),
  y: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  w: Type.Integer({ minimum: 1, maximum: GRID_COLUMNS }),
  h: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  series: Type.Array(SeriesBody, { minItems: 1, maxItems: 20 }),
});

export const DashboardBody = Type.Object({
  name: text({ minLength: 1, maxLength: 1024 }),
  tags: Type.Optional(Type.Array(text({ maxLength: 32 }), { maxItems: 50 })),
  tiles: Type.Optional(Type.Array(TileBody, { maxItems: 500 })),
});

export const Series = Type.Object({
  ...SeriesBody.properties,
  where: Type.String(),
  whereLanguage: Type.Enum([...WHERE_LANGUAGES]),
  groupBy: Type.Array(Type.String()),
});

export const Tile = Type.Object({
  ...TileBody.properties,
  id: Type.String(),
  name: Type.String(),
  asRatio: Type.Boolean(),
  series: Type.Array(Series),
});

/** As it is stored and shown: every member that is always there, is there. */
export const Dashboard = Type.Object({
  id: Type.String(),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  tiles: Type.Array(Tile),
});

export type SeriesBody = Static<typeof SeriesBody>;
export type DashboardBody = Static<typeof DashboardBody>;
export type Dashboard = Static<typeof Dashboard>;
export type Series = Static<typeof Series>;

export const DashboardPath = Type.Object({ id: Type.String() });
export const DashboardVersionPath = Type.Object({
  ...DashboardPath.properties,
  version: Type.String({ description: 'A number from the list of versions' }),
});

export const IfMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'The etag of the dashboard as it was read' })),
});

export const VersionRecord = Type.Object({
  version: Type.Integer(),
  savedAt: Type.String({ format: 'date-time' }),
  savedBy: Type.String({ description: 'The name of the token, or of the local program' }),
  name: Type.String(),
  tiles: Type.Integer({ description: 'How many there are' }),
  provisionedFrom: Type.Optional(Type.String({ description: 'The file it was made from' })),
});

export const WholeVersionRecord = Type.Object({ ...VersionRecord.properties, dashboard: Dashboard });

export const Validation = Type.Object(
  {
    valid: Type.Boolean(),
    errors: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
    normalized: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
      description: 'The body with everything that is always present; null when it is not valid',
    }),
  },
  { description: 'Success' },
);
