import type { GetDashboardVersionResult, ListSourcesResult, TileFilter } from '../../../api/generated.ts';
import { quoteText } from '../../search/quote-text.ts';
import type { RowSearch } from '../../search/search.ts';
import { AGGREGATIONS } from '../constraints.ts';
import type { Range } from '../time-window/range.ts';

type Tile = GetDashboardVersionResult['dashboard']['tiles'][number];
type Series = Tile['series'][number];
type Source = ListSourcesResult[number];

/** The rows that a value of a tile was computed from. */
export interface ValueRows {
  /** `Rows`, or which rows if there are several links. */
  label: string;
  source: Source;
  search: RowSearch;
}

interface Value {
  /** Those of the series of the tile, or all of them. */
  seriesIndex?: number | undefined;
  /** The values of `groupBy`; empty for all groups. */
  group?: readonly string[];
  range: Range;
  /** Conditions of the viewer that the value was computed with. */
  conditions?: readonly TileFilter[];
}

/** The limit of the search. */
const MAX_CONDITION_CHARACTERS = 8192;
const MAX_COLUMNS = 50;

/** One link per series that the value depends on. Empty if there are no rows to show: metrics and text have none. */
export function listValueRows(
  tile: Tile,
  { seriesIndex, group = [], range, conditions = [] }: Value,
  sources: readonly Source[],
) {
  const isRatio = tile.asRatio && tile.series.length === 2;
  const series = isRatio || seriesIndex === undefined ? tile.series : tile.series.slice(seriesIndex, seriesIndex + 1);
  const found = series.flatMap((one, index): ValueRows[] => {
    const source = findSource(one, sources);
    const filtered = applyConditions(one, conditions);
    const search = source && filtered && toRowSearch(filtered.series, source, group, range, filtered.filters);
    const label = isRatio ? (index === 0 ? 'the numerator' : 'the denominator') : one.alias || `series ${index + 1}`;
    return search ? [{ label: `Rows of ${label}`, source, search }] : [];
  });
  const distinct = found.filter(
    ({ search }, at) => found.findIndex((other) => JSON.stringify(other.search) === JSON.stringify(search)) === at,
  );
  return distinct.length === 1 ? distinct.map((one) => ({ ...one, label: 'Rows' })) : distinct;
}

/** Undefined for metrics, and if the search could not read the source. */
function findSource({ type, sourceId, dataSource, metricName }: Series, sources: readonly Source[]) {
  if (type === 'markdown') return undefined;
  const id = sourceId ?? (dataSource === 'metrics' || metricName !== undefined ? 'metrics' : 'logs');
  return sources.find((source) => source.id === id && source.kind !== 'metric' && source.disabled !== true);
}

function toRowSearch(
  series: Series,
  source: Source,
  group: readonly string[],
  { start, end }: Range,
  viewed: readonly string[],
): RowSearch | undefined {
  const { where, whereLanguage, groupBy, fields = [] } = series;
  const filters = [
    ...group.flatMap((value, index) => formatGroup(groupBy[index] ?? '', value)),
    ...formatPresence(series),
    ...viewed,
  ];
  if ([where, ...filters].some((condition) => condition.length > MAX_CONDITION_CHARACTERS)) return undefined;
  return {
    source: source.id,
    ...(where.trim() === '' ? {} : { where, ...(whereLanguage === 'sql' ? { lang: 'sql' as const } : {}) }),
    ...(filters.length > 0 ? { filters } : {}),
    ...(series.type === 'search' && fields.length > 0 ? { columns: fields.slice(0, MAX_COLUMNS) } : {}),
    from: start,
    to: end,
  };
}

/** The series with the conditions of the viewer. Undefined if a search cannot combine them: its query has one language. */
export function applyConditions(series: Series, conditions: readonly TileFilter[]) {
  const filters: string[] = [];
  let { where, whereLanguage } = series;
  for (const condition of conditions) {
    if ('expression' in condition && condition.expression !== undefined)
      filters.push(`${condition.expression} IN (${(condition.values ?? []).map(quoteText).join(', ')})`);
    else if (condition.where === undefined || condition.where.trim() === '') continue;
    else if (condition.whereLanguage === 'sql') filters.push(condition.where);
    else if (where.trim() === '') [where, whereLanguage] = [condition.where, 'lucene'];
    else if (whereLanguage === 'sql') return undefined;
    else where = `(${where}) AND (${condition.where})`;
  }
  return { series: { ...series, where, whereLanguage }, filters };
}

/** `Column` or `Map['key']`. */
const SIMPLE = /^\s*[A-Za-z_]\w*(\['(?:[^'\\]|\\.)*'\])?\s*$/;
const ENTRY = /\]\s*$/;
/** Text that a number, a time or a list could also have; compared as text. */
const OTHER_TYPE = /^(?:[[{(]|[-+]?(?:nan|inf)$|[-+]?\d+\D)/i;

/** A group is the text of its expression, and the text of NULL is null. */
function formatGroup(expression: string, value: string): string[] {
  if (expression.trim() === '') return [];
  const isSimple = SIMPLE.test(expression);
  if (value === 'null' && !(isSimple && ENTRY.test(expression)))
    return [`(toString(${expression}) = 'null' OR isNull(${expression}))`];
  const compared = isSimple && !OTHER_TYPE.test(value) ? expression.trim() : `toString(${expression})`;
  return [`${compared} IN (${quoteText(value)})`];
}

/** An aggregation of an attribute skips the rows that do not have it, or have no number there. */
function formatPresence({ type, aggFn, field = '' }: Series): string[] {
  if (type === 'search' || aggFn === undefined || !SIMPLE.test(field) || !ENTRY.test(field)) return [];
  const { needsField, usableInRatio } = AGGREGATIONS[aggFn];
  if (!needsField) return [];
  const isNumber = usableInRatio && aggFn !== 'count_distinct';
  return [`isNotNull(${isNumber ? `toFloat64OrNull(${field.trim()})` : field.trim()})`];
}
