import type { TileFilter } from '../charts/filter-schema.ts';
import type { Tile } from '../charts/tiles/tile-schema.ts';
import type { Dashboard } from '../dashboards/schema.ts';

/** Stored as clients send them: only these members are checked. */
type Filter = NonNullable<Dashboard['filters']>[number] & Record<string, unknown>;
type SavedValue = Record<string, unknown>;

/**
 * The filters that a dashboard is saved with, as the console applies them to a tile: the saved values of each variable, then
 * the saved query.
 */
export function listSavedFilters(dashboard: Dashboard, tile: Tile): TileFilter[] {
  if (tile.ignoresFilters || tile.series[0]?.type === 'markdown') return [];
  const { savedQuery, savedQueryLanguage } = dashboard;
  const filters = (dashboard.filters ?? []) as Filter[];
  const saved = (dashboard.savedFilterValues ?? []) as SavedValue[];
  const sources = tile.series.map(({ sourceId, dataSource, metricName }) => {
    const isMetric = dataSource === 'metrics' || metricName !== undefined;
    return sourceId ?? (isMetric ? 'metrics' : 'logs');
  });
  const applies = (filter: Filter): boolean => {
    const sourceIds = toTexts(filter.appliesToSourceIds);
    return sourceIds.length === 0 || sources.every((source) => sourceIds.includes(source));
  };
  const isQuery = typeof savedQuery === 'string' && savedQuery.trim() !== '';
  return [
    ...filters.filter(isVariable).flatMap((filter) => {
      const condition = toCondition(filter, saved);
      return condition && applies(filter) ? [condition] : [];
    }),
    ...(isQuery ? [{ where: savedQuery, whereLanguage: savedQueryLanguage ?? ('lucene' as const) }] : []),
  ];
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
const toTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** Others have a form that the console does not apply. */
const isVariable = ({ type, expression, isBroadcastEnabled }: Filter): boolean =>
  (type === 'QUERY_EXPRESSION' || type === 'STATIC_LIST') &&
  toText(expression).trim() !== '' &&
  isBroadcastEnabled !== false;

/** Saved by the name of the variable, or as a condition such as `ServiceName IN ('api')`. */
function toCondition(filter: Filter, saved: readonly SavedValue[]): TileFilter | undefined {
  const name = toText(filter.variableName) || filter.id;
  const expression = toText(filter.expression);
  const values = saved.flatMap((one) => (one.type === 'variable' && one.name === name ? toTexts(one.values) : []));
  if (values.length > 0) return { expression, values: filter.maxSelections === 1 ? values.slice(0, 1) : values };
  const conditions = saved.map(({ condition }) => toText(condition)).filter((text) => isChoice(text, expression));
  if (conditions.length === 0) return undefined;
  return { where: conditions.map((text) => `(${text})`).join(' OR '), whereLanguage: 'sql' };
}

const isChoice = (condition: string, expression: string): boolean =>
  condition.startsWith(expression) && /^\s+IN\s*\(/i.test(condition.slice(expression.length));
