import Type from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { PatternText } from '../../kernel/schemas/pattern-text.ts';
import { METRIC_DATA_TYPES } from '../sources/source.ts';
import { FiltersParameter, TileFilters, UnappliedFilters } from './filter-schema.ts';
import { MAX_BUCKETS, MAX_POINTS, MAX_TIME_MS } from './limits.ts';
import { DEFAULT_POINTS, GRANULARITIES } from './queries/time-buckets.ts';
import { QueriedSeries } from './series-schema.ts';
import { TileBody } from './tiles/tile-schema.ts';
import { UNITS } from './units.ts';

const GranularityName = Type.Enum([...(Object.keys(GRANULARITIES) as (keyof typeof GRANULARITIES)[]), 'auto'], {
  description: `auto: the smallest step that needs at most ${DEFAULT_POINTS} buckets, or the number in points. At most ${MAX_BUCKETS} buckets, and at most ${MAX_POINTS} points (buckets × groups, summed over the series)`,
});

const MAX_POINTS_TARGET = 1000;
const POINTS = `For granularity auto: the number of buckets that the drawing has room for. Default: ${DEFAULT_POINTS}`;

const Milliseconds = (description = 'Epoch milliseconds') =>
  Type.Integer({ minimum: 1_000_000_000_000, maximum: MAX_TIME_MS, description });

const MAX_TIME_CHARACTERS = 64;

export const ChartSeriesBody = NamedObject('ChartSeriesRequest', {
  series: Type.Array(QueriedSeries, { minItems: 1, maxItems: 5 }),
  startTime: Milliseconds(),
  endTime: Milliseconds('Epoch milliseconds, inclusive. No row outside the range counts'),
  granularity: Type.Optional(GranularityName),
  seriesReturnType: Type.Optional(
    Type.Enum(['ratio', 'column'], {
      description: 'ratio: the first series divided by the second. column: one property per groupBy column',
    }),
  ),
});

/** A row per bucket and group that has a value: `series_0.data` is the value of the first series, and so on. */
export const ChartRow = NamedObject(
  'ChartRow',
  { ts_bucket: Type.Optional(Type.Integer()), group: Type.Optional(Type.Array(Type.String())) },
  // Not a union of their types: the Go code that generators make for it does not compile.
  { additionalProperties: true, description: 'The other members are numbers, texts, null or lists of texts' },
);

export const TilePath = Type.Object({ id: Type.String(), tileId: Type.String() });

export const TileQuery = Type.Object(
  {
    start: Type.Optional(
      Type.String({
        maxLength: MAX_TIME_CHARACTERS,
        description: 'Epoch milliseconds or ISO 8601, from 1970 to 2261. Default: one hour before the end',
      }),
    ),
    end: Type.Optional(Type.String({ maxLength: MAX_TIME_CHARACTERS, description: 'Exclusive. Default: now' })),
    granularity: Type.Optional(GranularityName),
    points: Type.Optional(
      PatternText(/^(?:[1-9][0-9]{0,2}|1000)$/, `The value must be an integer from 1 to ${MAX_POINTS_TARGET}`, POINTS),
    ),
    timezone: Type.Optional(Type.String({ maxLength: 64, description: 'IANA name. Default: UTC' })),
    groups: Type.Optional(
      PatternText(
        /^[1-9][0-9]{0,2}$/,
        'The value must be an integer from 1 to 999',
        'The number of separate groups, largest first',
      ),
    ),
    others: Type.Optional(Type.Enum(['true', 'false'], { description: 'Add one group for all others' })),
    limit: Type.Optional(
      PatternText(/^[1-9][0-9]{0,3}$/, 'The value must be an integer from 1 to 9999', 'Maximum rows of a search'),
    ),
    filters: FiltersParameter,
  },
  { additionalProperties: false },
);

export const ColumnsQuery = Type.Object(
  {
    start: TileQuery.properties.start,
    end: TileQuery.properties.end,
    metricDataType: Type.Optional(
      Type.Enum([...METRIC_DATA_TYPES], { description: 'The table of a metric source. Default: gauge' }),
    ),
  },
  { additionalProperties: false },
);

export const ColumnRecord = NamedObject('SourceColumn', {
  name: Type.String(),
  type: Type.String({ description: 'A ClickHouse type' }),
  keys: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The keys of a map that occur in the range, most frequent first, at most 100',
    }),
  ),
  values: Type.Optional(
    Type.Array(Type.String(), {
      description: 'For MetricName of a metric source: the metrics that occur in the range, at most 1000',
    }),
  ),
});

/** The handler checks the range of both, so that the message is about the time. */
export const Moment = Type.Union([Type.Integer(), Type.String({ maxLength: MAX_TIME_CHARACTERS })], {
  description: 'Epoch milliseconds of 12 to 14 digits, or ISO 8601 with an offset; from 1970 to 2261',
});
const { id, name, x, y, w, h } = TileBody.properties;

/** The position and name of a tile do not affect its data and are optional. */
export const TilePreviewBody = NamedObject('TileDataRequest', {
  ...TileBody.properties,
  ...Type.Partial(Type.Object({ id, name, x, y, w, h })).properties,
  start: Type.Optional(Moment),
  end: Type.Optional(Moment),
  granularity: Type.Optional(GranularityName),
  points: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_POINTS_TARGET, description: POINTS })),
  timezone: TileQuery.properties.timezone,
  groups: Type.Optional(Type.Integer({ minimum: 1, maximum: 999 })),
  others: Type.Optional(Type.Boolean()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 9999 })),
  filters: Type.Optional(TileFilters),
});

const Value = Type.Union([Type.Number(), Type.String(), Type.Null()]);
const Unit = Type.Optional(
  Type.Enum([...UNITS], {
    description:
      'The unit of the values, if it is known: of a duration (ns, us, ms, s) by the duration of the source or the unit of the metric, or bytes (By)',
  }),
);

/** Buckets that are incomplete: the newest one until it ends, and those that a range of chart series cuts. */
export const PartialBuckets = Type.Optional(
  Type.Array(
    Type.Object({
      bucket: Type.Integer({ description: 'The start of the bucket, epoch milliseconds' }),
      start: Type.Integer({ description: 'The start of the part that counts' }),
      end: Type.Integer({ description: 'The end of the part that counts, at most now. Exclusive' }),
    }),
    {
      description: 'Buckets that have not ended or are cut by the range. Rates are per second of the part that counts',
    },
  ),
);

const Scale = Type.Enum(['linear', 'log'], { description: 'Of the ranges of values' });
const GroupCount = NamedObject('GroupCount', { shown: Type.Integer(), total: Type.Integer() });
const frame = {
  start: Type.Integer({ description: 'Epoch milliseconds' }),
  end: Type.Integer({ description: 'Exclusive' }),
  timezone: Type.String(),
  unappliedFilters: UnappliedFilters,
};

export const TimeTileData = Type.Object({
  type: Type.Literal('time'),
  ...frame,
  granularity: Type.String(),
  buckets: Type.Array(Type.Integer({ description: 'The start of the bucket, epoch milliseconds' })),
  partialBuckets: PartialBuckets,
  series: Type.Array(
    Type.Object({
      name: Type.String(),
      seriesIndex: Type.Integer({ description: 'The series of the tile that these values are of; 0 for a ratio' }),
      unit: Unit,
      group: Type.Array(Type.String()),
      isOthers: Type.Boolean(),
      values: Type.Array(Value, { description: 'One per bucket; null if there is none. A count without rows is 0' }),
    }),
  ),
  groups: GroupCount,
});

export const TileResponse = Type.Union([
  TimeTileData,
  Type.Object({
    type: Type.Literal('table'),
    ...frame,
    columns: Type.Array(Type.Object({ name: Type.String(), kind: Type.Enum(['group', 'value']), unit: Unit })),
    rows: Type.Array(Type.Array(Value)),
    groups: GroupCount,
  }),
  Type.Object({
    type: Type.Literal('number'),
    ...frame,
    value: Value,
    series: Type.Array(Type.Object({ name: Type.String(), value: Value, unit: Unit })),
  }),
  Type.Object({
    type: Type.Enum(['pie', 'bar']),
    ...frame,
    parts: Type.Array(
      Type.Object({
        name: Type.String(),
        unit: Unit,
        group: Type.Array(Type.String()),
        isOthers: Type.Boolean(),
        value: Value,
      }),
      { description: 'Largest first, the others last. A pie always has the others' },
    ),
    groups: GroupCount,
  }),
  Type.Object({
    type: Type.Literal('heatmap'),
    mode: Type.Enum(['distribution', 'series'], { description: 'A row is a range of values, or a group' }),
    ...frame,
    name: Type.String(),
    unit: Unit,
    granularity: Type.String(),
    buckets: Type.Array(Type.Integer()),
    partialBuckets: PartialBuckets,
    scale: Scale,
    rows: Type.Array(
      Type.Object({
        from: Type.Optional(Type.Number({ description: 'The lowest value of the row' })),
        to: Type.Optional(Type.Number({ description: 'Exclusive, except in the last row' })),
        group: Type.Optional(Type.Array(Type.String())),
        isOthers: Type.Optional(Type.Boolean()),
        values: Type.Array(Value, { description: 'One per bucket: the number of values, or the value of the group' }),
      }),
    ),
  }),
  Type.Object({
    type: Type.Literal('histogram'),
    ...frame,
    name: Type.String(),
    unit: Unit,
    scale: Scale,
    count: Type.Integer({ description: 'The number of values' }),
    bins: Type.Array(Type.Object({ from: Type.Number(), to: Type.Number(), count: Type.Integer() })),
  }),
  Type.Object({
    type: Type.Literal('search'),
    ...frame,
    columns: Type.Array(Type.Object({ name: Type.String() })),
    rows: Type.Array(Type.Array(Type.Unknown()), { description: 'Newest first' }),
    truncated: Type.Boolean({ description: 'Rows within the limit were left out because they exceed 2 MiB together' }),
  }),
  Type.Object({ type: Type.Literal('markdown'), content: Type.String() }),
]);
