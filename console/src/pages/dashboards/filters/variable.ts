import { parseChoice, showLiteral } from '../../search/conditions.ts';
import { seriesConstraints } from '../constraints.ts';
import type { Dashboard } from '../queries.ts';
import type { Series } from '../tile-types.ts';

export type Filter = NonNullable<Dashboard['filters']>[number];
export type SavedValue = NonNullable<Dashboard['savedFilterValues']>[number];
type Filtered = Pick<Dashboard, 'filters' | 'savedFilterValues'>;

interface ValueSource {
  sourceId: string;
  /** Of a metric source; undefined: metrics of all types. */
  metricDataType?: Series['metricDataType'];
  where: string;
  whereLanguage: 'lucene' | 'sql';
}

/** A field whose values the viewer of a dashboard chooses. */
export interface Variable {
  /** Of the filter that stores it. */
  id: string;
  /** In the URL. */
  name: string;
  label: string;
  expression: string;
  /** The rows whose values are offered; undefined for a fixed list. */
  source: ValueSource | undefined;
  /** The fixed list. */
  options: readonly string[];
  isMulti: boolean;
  /** Chosen unless the viewer chooses others. */
  defaults: readonly string[];
  /** Only tiles of these sources are filtered. Empty: all. */
  sourceIds: readonly string[];
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
const toTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

export const getVariableName = (filter: Filter): string => toText(filter.variableName) || filter.id;

/** Filters of other clients may have a form that the console cannot apply: only values for templates, or no field. */
export const isVariable = (filter: Filter): boolean =>
  (filter.type === 'QUERY_EXPRESSION' || filter.type === 'STATIC_LIST') &&
  toText(filter.expression).trim() !== '' &&
  filter.isBroadcastEnabled !== false;

export function toVariable(filter: Filter, saved: readonly SavedValue[] = []): Variable {
  const isMulti = filter.maxSelections !== 1;
  const expression = toText(filter.expression);
  const name = getVariableName(filter);
  const defaults = saved.flatMap((one) => readSavedValues(one, name, expression));
  return {
    id: filter.id,
    name,
    label: filter.name || name,
    expression,
    source:
      filter.type === 'QUERY_EXPRESSION'
        ? {
            sourceId: toText(filter.sourceId),
            metricDataType: seriesConstraints.metricDataType.values.find((type) => type === filter.sourceMetricType),
            where: toText(filter.where),
            whereLanguage: filter.whereLanguage === 'sql' ? 'sql' : 'lucene',
          }
        : undefined,
    options: toTexts(filter.options),
    isMulti,
    defaults: isMulti ? [...new Set(defaults)] : defaults.slice(0, 1),
    sourceIds: toTexts(filter.appliesToSourceIds),
  };
}

/** The values that an entry saves for a variable: by its name, or as a condition such as `ServiceName IN ('api')`. */
function readSavedValues(saved: SavedValue, name: string, expression: string): string[] {
  if (saved.type === 'variable') return saved.name === name ? toTexts(saved.values) : [];
  const choice = parseChoice(toText(saved.condition));
  return choice?.expression === expression && !choice.isExcluded ? choice.literals.map(showLiteral) : [];
}

export const listVariables = ({ filters = [], savedFilterValues }: Filtered): Variable[] =>
  filters.filter(isVariable).map((filter) => toVariable(filter, savedFilterValues));

/** What the dashboard defines and the console does not apply. */
export function listUnsupported({ filters = [], savedFilterValues = [] }: Filtered): string[] {
  const variables = filters.filter(isVariable);
  const isKnown = (saved: SavedValue) =>
    saved.type === 'variable' || variables.some((one) => toVariable(one, [saved]).defaults.length > 0);
  return [
    ...filters.filter((filter) => !isVariable(filter)).map((filter) => filter.name || filter.id),
    ...savedFilterValues.filter((saved) => !isKnown(saved)).map((saved) => toText(saved.condition)),
  ].filter((name) => name !== '');
}
