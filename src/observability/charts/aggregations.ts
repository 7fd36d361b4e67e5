import { METRIC_DATA_TYPES, type MetricDataType } from '../sources/source.ts';

/** A call of a ClickHouse aggregate function: `quantile(0.95)(Duration)`. */
export interface Aggregate {
  name: string;
  level?: number | undefined;
  arguments: string[];
}

/** SQL that the planner of logs and traces provides. */
interface EventInput {
  /** The series' `field`; empty if the aggregation reads none. */
  field: string;
  time: string;
  level: number;
}

interface Aggregation {
  label: string;
  /** One sentence for the OpenAPI document, the console and docs/aggregations.md. */
  description: string;
  /** The series must set `level`. */
  needsLevel?: true;
  /** How an `orderBy` refers to the value. Default: the name of the aggregation, called with the field. */
  sql?(field: string, level: number): string;
  /** The result is divided by the length of the bucket in seconds. */
  isPerSecond?: true;
  /** The result is a number for every field. Only numbers can be divided. */
  isNumeric: boolean;
  /** The numerator of a ratio if no row matches. A count of nothing is 0, an average of nothing is null. */
  emptyValue: 0 | null;
  /** A tile shows 0 if no row matches. Every other aggregation has no value then. */
  isCount?: true;
  /** The result has the unit of the field or metric. */
  keepsUnit?: true;
  /** Text that is a number is returned as a number. */
  readsNumbers?: true;
  /** Assumed if a series of a metric source has no `metricDataType`. */
  defaultMetricDataType: MetricDataType;
  /** Logs and traces. Absent: not available. */
  events?: {
    /** `number`: the field is converted to a number, and rows without one are skipped. `value`: the field is used unchanged. */
    field: 'none' | 'number' | 'value';
    aggregate(input: EventInput): Aggregate;
  };
  /** Gauges and sums: one value per stream and bucket (`__of_series`), then an aggregate over the streams. */
  values: {
    /** `increase` is not available for gauges. `default`: the increase of a counter, the last value of anything else. */
    streamValue: 'default' | 'last' | 'increase';
    aggregate(level: number): Aggregate;
  };
  /** Histograms and summaries, from the counts and sums of each point. Absent: not available. */
  distributions?: 'quantile' | { aggregate: Aggregate; where?: string; requiredColumn?: 'Min' | 'Max' };
}

const overNumbers = (name: string) =>
  ({ field: 'number', aggregate: ({ field }: EventInput) => ({ name, arguments: [field] }) }) as const;

const acrossStreams = (name: string) =>
  ({ streamValue: 'default', aggregate: () => ({ name, arguments: ['__of_series'] }) }) as const;

const latestStream = {
  streamValue: 'last',
  aggregate: () => ({ name: 'argMax', arguments: ['__of_series', '__at'] }),
} as const;

const increaseAcrossStreams = {
  streamValue: 'increase',
  aggregate: () => ({ name: 'sum', arguments: ['__of_series'] }),
} as const;

const OBSERVATION_COUNT: { aggregate: Aggregate } = { aggregate: { name: 'sum', arguments: ['__count'] } };

const anyValue = {
  keepsUnit: true,
  isNumeric: false,
  emptyValue: null,
  defaultMetricDataType: 'gauge',
  events: { field: 'value', aggregate: ({ field }: EventInput) => ({ name: 'any', arguments: [field] }) },
  values: latestStream,
} as const;

/**
 * Every aggregation of a series (`aggFn`). The schema, validation, planners, OpenAPI document, console and
 * docs/aggregations.md read this table: a new aggregation is a new entry.
 */
const AGGREGATIONS = {
  avg: {
    label: 'Average',
    description: 'The mean of the field.',
    keepsUnit: true,
    isNumeric: true,
    emptyValue: null,
    defaultMetricDataType: 'gauge',
    events: overNumbers('avg'),
    values: acrossStreams('avg'),
    distributions: {
      aggregate: { name: 'avgWeighted', arguments: ['__sum / __count', 'toFloat64(__count)'] },
      where: '__count > 0',
    },
  },
  count: {
    label: 'Count',
    description:
      'The number of rows; of streams for gauges and sums; of observations for histograms and summaries. 0 if there are none.',
    sql: () => 'count()',
    isCount: true,
    isNumeric: true,
    emptyValue: 0,
    defaultMetricDataType: 'gauge',
    events: { field: 'none', aggregate: () => ({ name: 'count', arguments: [] }) },
    values: { streamValue: 'default', aggregate: () => ({ name: 'count', arguments: [] }) },
    distributions: OBSERVATION_COUNT,
  },
  count_distinct: {
    label: 'Count distinct',
    description: 'The exact number of distinct values. 0 if there are none.',
    sql: (field) => `count(DISTINCT ${field})`,
    isCount: true,
    isNumeric: true,
    emptyValue: 0,
    defaultMetricDataType: 'gauge',
    events: { field: 'value', aggregate: ({ field }) => ({ name: 'uniqExact', arguments: [field] }) },
    values: acrossStreams('uniqExact'),
  },
  last_value: {
    label: 'Last value',
    description: 'The latest value by time. Text that is a number is returned as a number.',
    keepsUnit: true,
    readsNumbers: true,
    isNumeric: false,
    emptyValue: null,
    defaultMetricDataType: 'gauge',
    events: { field: 'value', aggregate: ({ field, time }) => ({ name: 'argMax', arguments: [field, time] }) },
    values: latestStream,
  },
  max: {
    label: 'Maximum',
    description: 'The largest value.',
    keepsUnit: true,
    isNumeric: true,
    emptyValue: null,
    defaultMetricDataType: 'gauge',
    events: overNumbers('max'),
    values: acrossStreams('max'),
    distributions: { aggregate: { name: 'max', arguments: ['Max'] }, where: 'Count > 0', requiredColumn: 'Max' },
  },
  min: {
    label: 'Minimum',
    description: 'The smallest value.',
    keepsUnit: true,
    isNumeric: true,
    emptyValue: null,
    defaultMetricDataType: 'gauge',
    events: overNumbers('min'),
    values: acrossStreams('min'),
    distributions: { aggregate: { name: 'min', arguments: ['Min'] }, where: 'Count > 0', requiredColumn: 'Min' },
  },
  quantile: {
    label: 'Quantile',
    description: 'The quantile given by level: 0.95 is the 95th percentile. Approximate.',
    sql: (field, level) => `quantile(${level})(${field})`,
    needsLevel: true,
    keepsUnit: true,
    isNumeric: true,
    emptyValue: null,
    defaultMetricDataType: 'histogram',
    events: { field: 'number', aggregate: ({ field, level }) => ({ name: 'quantile', level, arguments: [field] }) },
    values: { streamValue: 'default', aggregate: (level) => ({ name: 'quantile', level, arguments: ['__of_series'] }) },
    distributions: 'quantile',
  },
  sum: {
    label: 'Sum',
    description: 'The total of the field.',
    keepsUnit: true,
    isNumeric: true,
    emptyValue: 0,
    defaultMetricDataType: 'gauge',
    events: overNumbers('sum'),
    values: acrossStreams('sum'),
    distributions: { aggregate: { name: 'sum', arguments: ['__sum'] } },
  },
  any: { label: 'Any value', description: 'One of the values; the latest for gauges and sums.', ...anyValue },
  none: { label: 'None', description: 'The same as any.', ...anyValue },
  increase: {
    label: 'Increase',
    description: 'The growth of a counter in each bucket.',
    keepsUnit: true,
    isNumeric: true,
    emptyValue: 0,
    defaultMetricDataType: 'sum',
    values: increaseAcrossStreams,
    distributions: OBSERVATION_COUNT,
  },
  rate: {
    label: 'Rate',
    description: 'The growth of a counter per second of the bucket, up to now in the newest bucket.',
    isPerSecond: true,
    isNumeric: true,
    emptyValue: 0,
    defaultMetricDataType: 'sum',
    values: increaseAcrossStreams,
    distributions: OBSERVATION_COUNT,
  },
} as const satisfies Record<string, Aggregation>;

export type AggregationName = keyof typeof AGGREGATIONS;

export const AGGREGATION_NAMES = Object.keys(AGGREGATIONS) as AggregationName[];

export const getAggregation = (name: AggregationName): Aggregation => AGGREGATIONS[name];

/** Assumed for a quantile whose series has no `level`. */
export const DEFAULT_LEVEL = 0.5;

type DataType = 'events' | MetricDataType;

/** The kinds of data that have the aggregation: `events` for logs and traces, and types of metrics. */
export function listDataTypes(name: AggregationName): DataType[] {
  const types: DataType[] = ['events', ...METRIC_DATA_TYPES];
  return types.filter((type) => isAvailable(getAggregation(name), type));
}

/** The aggregations of a kind of data, in alphabetical order. */
export function listAggregations(type: DataType): AggregationName[] {
  return AGGREGATION_NAMES.filter((name) => isAvailable(getAggregation(name), type)).sort();
}

function isAvailable({ events, values, distributions }: Aggregation, type: DataType): boolean {
  if (type === 'events') return events !== undefined;
  if (type === 'gauge') return values.streamValue !== 'increase';
  if (type === 'sum') return true;
  // The OpenTelemetry table of summaries has no Min and Max.
  const isRecorded = type !== 'summary' || distributions === 'quantile' || distributions?.requiredColumn === undefined;
  return distributions !== undefined && isRecorded;
}

/** The table without its SQL: `x-aggregations` of `aggFn` in the OpenAPI document. */
export function describeAggregations() {
  return Object.fromEntries(
    AGGREGATION_NAMES.map((name) => {
      const aggregation = getAggregation(name);
      const { label, description, needsLevel = false, isNumeric, events } = aggregation;
      const { defaultMetricDataType: defaultDataType } = aggregation;
      const needsField = events !== undefined && events.field !== 'none';
      const dataTypes = listDataTypes(name);
      return [
        name,
        { label, description, needsField, needsLevel, usableInRatio: isNumeric, dataTypes, defaultDataType },
      ];
    }),
  );
}
