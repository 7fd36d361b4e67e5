import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../../kernel/schemas/storable-text.ts';
import { METRIC_DATA_TYPES } from '../../sources/source.ts';
import { AGGREGATION_NAMES } from '../aggregations.ts';
import { FreeObject, TIME_DISPLAY_TYPES, WHERE_LANGUAGES } from '../series-schema.ts';

/** Types of the public interface that are rejected with a reason. */
export const UNSUPPORTED_DISPLAY_TYPES = ['event_patterns'] as const;

const DISPLAY_TYPES = [
  ...TIME_DISPLAY_TYPES,
  'table',
  'number',
  'pie',
  'bar',
  'heatmap',
  'histogram',
  'search',
  'markdown',
  ...UNSUPPORTED_DISPLAY_TYPES,
] as const;

const MAX_SELECT_ITEMS = 20;
const EXPRESSION_CHARACTERS = 10_000;
/** The list of a search has several expressions. */
const SELECT_CHARACTERS = 20_000;
const MAX_LIMIT = 1000;

const Expression = (description?: string) =>
  Type.Optional(text({ maxLength: EXPRESSION_CHARACTERS, ...(description && { description }) }));
const Language = Type.Optional(Type.Enum([...WHERE_LANGUAGES]));
const Flag = Type.Optional(Type.Boolean());

const SelectItem = NamedObject('ClickStackSelectItem', {
  aggFn: Type.Optional(
    Type.Enum([...AGGREGATION_NAMES], { description: 'Required, except for values (heatmap, histogram)' }),
  ),
  valueExpression: Expression(),
  alias: Type.Optional(text({ maxLength: 1024 })),
  level: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  where: Expression(),
  whereLanguage: Language,
  metricName: Type.Optional(text({ maxLength: 1024 })),
  metricType: Type.Optional(Type.Enum([...METRIC_DATA_TYPES])),
  periodAggFn: Type.Optional(Type.Enum(['delta'])),
  numberFormat: Type.Optional(FreeObject()),
  countExpression: Expression(),
  heatmapScaleType: Type.Optional(Type.Enum(['log', 'linear'])),
});

const Formula = NamedObject('ClickStackFormula', {
  expression: text({ maxLength: 1024 }),
  alias: Type.Optional(text({ maxLength: 1024 })),
  numberFormat: Type.Optional(FreeObject()),
});

/**
 * A tile in the format that dashboard clients use today. One object for all display types: `config-rules.ts` checks
 * which members each type needs. The order of the members is that of the response.
 */
export const TileConfig = NamedObject(
  'ClickStackTileConfig',
  {
    configType: Type.Optional(Type.Enum(['builder', 'sql', 'promql'], { description: 'Only builder is supported' })),
    displayType: Type.Enum([...DISPLAY_TYPES]),
    heatmapMode: Type.Optional(Type.Enum(['distribution', 'series'])),
    sourceId: Type.Optional(text({ maxLength: 64, description: 'Required, except for markdown' })),
    select: Type.Optional(
      Type.Union(
        [text({ maxLength: SELECT_CHARACTERS }), Type.Array(SelectItem, { minItems: 1, maxItems: MAX_SELECT_ITEMS })],
        { description: 'For a search: the columns, separated by commas. Otherwise a list of values' },
      ),
    ),
    where: Expression('Combined with the where of each value'),
    whereLanguage: Language,
    groupBy: Expression('Expressions, separated by commas'),
    having: Expression(),
    orderBy: Expression(),
    asRatio: Flag,
    numberFormat: Type.Optional(FreeObject()),
    seriesLimit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description: 'Slices of a pie, bars' })),
    formulas: Type.Optional(Type.Array(Formula, { maxItems: MAX_SELECT_ITEMS })),
    showOperandSeries: Flag,
    alignDateRangeToGranularity: Flag,
    fillNulls: Flag,
    fitYAxisToData: Flag,
    lineInterpolation: Type.Optional(Type.Enum(['smooth', 'linear', 'step'])),
    compareToPreviousPeriod: Flag,
    groupByColumnsOnLeft: Flag,
    onClick: Type.Optional(FreeObject()),
    color: Type.Optional(text({ maxLength: 64 })),
    colorRules: Type.Optional(Type.Array(FreeObject(), { maxItems: 10 })),
    backgroundChart: Type.Optional(FreeObject()),
    markdown: Type.Optional(text({ maxLength: 50_000 })),
  },
  { description: 'The tile in the format of ClickStack. Either this or series' },
);

export type TileConfig = Static<typeof TileConfig>;
export type SelectItem = Static<typeof SelectItem>;
