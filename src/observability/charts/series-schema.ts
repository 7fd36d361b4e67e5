import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { METRIC_DATA_TYPES } from '../sources/source.ts';
import { AGGREGATION_NAMES, describeAggregations } from './aggregations.ts';

const SERIES_TYPES = ['time', 'table', 'number', 'pie', 'bar', 'heatmap', 'histogram', 'search', 'markdown'] as const;
/** How a tile of type `time` is drawn. */
export const TIME_DISPLAY_TYPES = ['line', 'stacked_bar', 'stacked_line'] as const;
export const WHERE_LANGUAGES = ['lucene', 'sql'] as const;

/** Kept as written. */
export const FreeObject = (description?: string) =>
  Type.Object({}, { additionalProperties: true, maxProperties: 100, ...(description && { description }) });

export const MAX_GROUP_BY = 10;
export const MAX_FIELDS = 100;

export const SeriesBody = NamedObject('SeriesInput', {
  type: Type.Enum([...SERIES_TYPES]),
  dataSource: Type.Optional(Type.Enum(['events', 'metrics'])),
  aggFn: Type.Optional(Type.Enum([...AGGREGATION_NAMES])),
  field: Type.Optional(text({ maxLength: 10_000 })),
  groupBy: Type.Optional(Type.Array(text({ maxLength: 10_000 }), { maxItems: MAX_GROUP_BY })),
  where: Type.Optional(text({ maxLength: 10_000 })),
  whereLanguage: Type.Optional(Type.Enum([...WHERE_LANGUAGES])),
  sourceId: Type.Optional(text({ maxLength: 64 })),
  metricName: Type.Optional(text({ maxLength: 1024 })),
  metricDataType: Type.Optional(Type.Enum([...METRIC_DATA_TYPES])),
  level: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'The quantile: 0.95 is the 95th percentile' }),
  ),
  alias: Type.Optional(text({ maxLength: 1024 })),
  displayType: Type.Optional(Type.Enum([...TIME_DISPLAY_TYPES])),
  sortOrder: Type.Optional(Type.Enum(['asc', 'desc'])),
  numberFormat: Type.Optional(FreeObject()),
  content: Type.Optional(text({ maxLength: 50_000, description: 'Markdown' })),
  fields: Type.Optional(Type.Array(text({ maxLength: 10_000 }), { maxItems: MAX_FIELDS })),
});

const { dataSource, field, groupBy, where, whereLanguage, metricName, metricDataType, level, sortOrder } =
  SeriesBody.properties;

/** A series that is queried without a tile. */
export const QueriedSeries = Type.Object({
  sourceId: Type.String({ minLength: 1, maxLength: 64 }),
  dataSource,
  aggFn: Type.Enum([...AGGREGATION_NAMES], { 'x-aggregations': describeAggregations() }),
  field,
  groupBy,
  where,
  whereLanguage,
  metricName,
  metricDataType,
  level,
  sortOrder,
});

export const Series = NamedObject('Series', {
  ...SeriesBody.properties,
  where: Type.String(),
  whereLanguage: Type.Enum([...WHERE_LANGUAGES]),
  groupBy: Type.Array(Type.String()),
});

export type SeriesBody = Static<typeof SeriesBody>;
export type Series = Static<typeof Series>;
