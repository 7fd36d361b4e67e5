import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../../kernel/schemas/storable-text.ts';
import { METRIC_DATA_TYPES } from '../../sources/source.ts';
import { between, MAX_CURSOR_CHARACTERS, matching } from '../schema.ts';

export const DEFAULT_POINTS = 100;
const MAX_POINTS = 1000;

export const MetricPointsBody = NamedObject('MetricPointsRequest', {
  ...matching,
  sourceId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'A source of metrics. Default: metrics' }),
  ),
  metricName: text({ minLength: 1, maxLength: 1024 }),
  metricDataType: Type.Enum([...METRIC_DATA_TYPES]),
  ...between,
  withExemplars: Type.Optional(Type.Boolean({ description: 'Only points that have exemplars' })),
  maxResults: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_POINTS, description: `Default: ${DEFAULT_POINTS}` }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: MAX_CURSOR_CHARACTERS, description: 'The nextCursor of the previous response' }),
  ),
});

const Time = Type.String({ description: 'ISO 8601 with nanoseconds' });
const Double = Type.Union([Type.Number(), Type.Null()], { description: 'Null if it is not a finite number' });
const Whole = Type.Union([Type.Integer(), Type.String()], { description: 'Text beyond 2⁵³' });
const Attributes = Type.Record(Type.String(), Type.String());

const Exemplar = NamedObject(
  'MetricExemplar',
  {
    time: Time,
    value: Double,
    traceId: Type.String({ description: 'Empty if it has none' }),
    spanId: Type.String(),
    attributes: Attributes,
  },
  { description: 'A measurement that the point contains' },
);

/** The members of a point, each with its column. A table without the column has no such member. */
const COLUMNS = {
  startTime: ['StartTimeUnix', Time],
  service: ['ServiceName', Type.String()],
  unit: ['MetricUnit', Type.String()],
  attributes: ['Attributes', Attributes],
  resourceAttributes: ['ResourceAttributes', Attributes],
  scopeName: ['ScopeName', Type.String()],
  flags: ['Flags', Type.Integer()],
  temporality: ['AggregationTemporality', Type.Integer({ description: '1: delta, 2: cumulative' })],
  isMonotonic: ['IsMonotonic', Type.Boolean()],
  value: ['Value', Double],
  count: ['Count', Whole],
  sum: ['Sum', Double],
  min: ['Min', Double],
  max: ['Max', Double],
  bucketCounts: ['BucketCounts', Type.Array(Whole)],
  explicitBounds: ['ExplicitBounds', Type.Array(Double)],
  scale: ['Scale', Type.Integer()],
  zeroCount: ['ZeroCount', Whole],
  positiveOffset: ['PositiveOffset', Type.Integer()],
  positiveBucketCounts: ['PositiveBucketCounts', Type.Array(Whole)],
  negativeOffset: ['NegativeOffset', Type.Integer()],
  negativeBucketCounts: ['NegativeBucketCounts', Type.Array(Whole)],
  quantiles: ['ValueAtQuantiles.Quantile', Type.Array(Double)],
  quantileValues: ['ValueAtQuantiles.Value', Type.Array(Double)],
} as const;

export const POINT_COLUMNS: readonly (readonly [member: string, column: string])[] = Object.entries(COLUMNS).map(
  ([member, [column]]) => [member, column],
);
/** The columns of the members of an exemplar. */
export const EXEMPLAR_COLUMNS = {
  time: 'Exemplars.TimeUnix',
  value: 'Exemplars.Value',
  traceId: 'Exemplars.TraceId',
  spanId: 'Exemplars.SpanId',
  attributes: 'Exemplars.FilteredAttributes',
} as const;

const members = Object.fromEntries(
  Object.entries(COLUMNS).map(([member, [, schema]]) => [member, Type.Optional(schema)]),
);

export const MetricPointsResponse = Type.Object(
  {
    data: Type.Array(
      NamedObject(
        'MetricPoint',
        { time: Time, ...members, exemplars: Type.Array(Exemplar) },
        { description: 'A data point as it was received. Which members it has depends on the type of the metric' },
      ),
      { description: 'Newest first' },
    ),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'The cursor that continues. Null if the whole range was read',
    }),
  },
  { description: 'Success' },
);

export type MetricPointsBody = Static<typeof MetricPointsBody>;

interface MetricExemplar {
  time: string;
  value: number | null;
  traceId: string;
  spanId: string;
  attributes: Record<string, string>;
}

export interface MetricPoint {
  time: string;
  exemplars: MetricExemplar[];
  [member: string]: unknown;
}
