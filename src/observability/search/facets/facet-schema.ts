import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../../kernel/schemas/storable-text.ts';
import { METRIC_DATA_TYPES } from '../../sources/source.ts';
import { between, matching } from '../schema.ts';

const metricDataType = Type.Optional(
  Type.Enum([...METRIC_DATA_TYPES], {
    description: 'The table of a metric source. Default: all of its tables, with the columns that all of them have',
  }),
);

export const FacetsBody = NamedObject('SearchFacetsRequest', {
  sourceId: matching.sourceId,
  metricDataType,
  ...between,
});

export const FacetValuesBody = NamedObject('SearchFacetValuesRequest', {
  ...matching,
  metricDataType,
  ...between,
  fields: Type.Array(text({ minLength: 1, maxLength: 1024 }), {
    minItems: 1,
    maxItems: 20,
    description: "Columns or attributes, such as LogAttributes['http.route']",
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Values per field. Default: 20' })),
});

export const FacetRecord = NamedObject('SearchFacet', {
  field: Type.String({ description: 'The expression to filter by' }),
  column: Type.String(),
  key: Type.String({ description: 'Of the attribute; empty for a column' }),
  kind: Type.Enum(['column', 'attribute']),
  rows: Type.Optional(
    Type.Integer({ description: 'Rows with this field in the hours of the range; absent if they were not counted' }),
  ),
});

export const FacetValuesRecord = NamedObject('SearchFacetValues', {
  field: Type.String(),
  values: Type.Array(
    NamedObject('SearchFacetValue', {
      value: Type.String(),
      count: Type.Integer({ description: 'Rows in the range' }),
    }),
    { description: 'Most frequent first. Empty values and those of more than 256 bytes are left out' },
  ),
  isExact: Type.Boolean({ description: 'False if a field has so many different values that counts are estimated' }),
  others: Type.Integer({ description: 'Rows with another value' }),
  error: Type.Optional(Type.String({ description: 'Why the values could not be counted' })),
});

export type FacetsBody = Static<typeof FacetsBody>;
export type FacetValuesBody = Static<typeof FacetValuesBody>;
