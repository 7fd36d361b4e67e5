import type { TileFilter } from '../../../api/generated.ts';
import { isEqual } from '../equality.ts';
import type { Dashboard, Tile } from '../queries.ts';
import type { DashboardSearch } from '../search.ts';
import { listVariables, type Variable } from './variable.ts';

/** A condition that the viewer chose for all tiles. */
export interface ViewFilter {
  /** As in "not filtered by …". */
  label: string;
  condition: TileFilter;
  /** Only tiles of these sources are filtered. Empty: all. */
  sourceIds: readonly string[];
}

type Query = { where: string; language: 'lucene' | 'sql' };

const getSavedQuery = ({ savedQuery, savedQueryLanguage }: Dashboard): Query => ({
  where: savedQuery ?? '',
  language: savedQueryLanguage ?? 'lucene',
});

/** The query in the URL, or the one that is saved with the dashboard. */
export const resolveQuery = (dashboard: Dashboard, { where, lang }: DashboardSearch): Query =>
  where === undefined ? getSavedQuery(dashboard) : { where, language: lang ?? 'lucene' };

/** The search with another query. The URL has no query if it is the saved one. */
export function changeQuery(dashboard: Dashboard, search: DashboardSearch, query: Query): DashboardSearch {
  const { where: _where, lang: _lang, ...rest } = search;
  const saved = getSavedQuery(dashboard);
  const isSaved = query.where.trim() === '' ? saved.where === '' : isEqual(query, saved);
  if (isSaved) return rest;
  return { ...rest, where: query.where.trim(), ...(query.language === 'sql' && { lang: 'sql' }) };
}

export const resolveValues = ({ name, defaults, isMulti }: Variable, { vars }: DashboardSearch): readonly string[] => {
  const chosen = (vars && Object.hasOwn(vars, name) ? vars[name] : undefined) ?? defaults;
  return isMulti ? chosen : chosen.slice(0, 1);
};

/** The search with other values of a variable. The URL only has those that are not the defaults. */
export function changeValues(variable: Variable, search: DashboardSearch, values: string[]): DashboardSearch {
  const { vars = {}, ...rest } = search;
  const { [variable.name]: _, ...others } = vars;
  const next = isEqual(values, [...variable.defaults]) ? others : { ...others, [variable.name]: values };
  return Object.keys(next).length === 0 ? rest : { ...rest, vars: next };
}

/** Variables first, then the query. */
export function listViewFilters(dashboard: Dashboard, search: DashboardSearch): ViewFilter[] {
  const { where, language } = resolveQuery(dashboard, search);
  return [
    ...listVariables(dashboard).flatMap((variable): ViewFilter[] => {
      const values = [...resolveValues(variable, search)];
      const { label, expression, sourceIds } = variable;
      return values.length === 0 ? [] : [{ label, condition: { expression, values }, sourceIds }];
    }),
    ...(where.trim() === ''
      ? []
      : [{ label: 'the query', condition: { where, whereLanguage: language }, sourceIds: [] }]),
  ];
}

/** "Service: api, web", "the query level:error". */
export const describeFilter = ({ label, condition: { values, where } }: ViewFilter): string =>
  where === undefined ? `${label}: ${(values ?? []).join(', ')}` : `${label} ${where}`;

interface TileFilters {
  /** In the order of the request. */
  sent: readonly ViewFilter[];
  /** Why the others do not apply. */
  notes: readonly string[];
}

const NONE: TileFilters = { sent: [], notes: [] };

/** Which filters apply to a tile: it can ignore all of them, and a variable can be limited to some sources. */
export function chooseTileFilters(tile: Tile, filters: readonly ViewFilter[]): TileFilters {
  if (filters.length === 0 || tile.series[0]?.type === 'markdown') return NONE;
  if (tile.ignoresFilters) return { sent: [], notes: ['Not filtered: this tile ignores filters'] };
  const sources = tile.series.map(({ sourceId, dataSource, metricName }) => {
    const isMetric = dataSource === 'metrics' || metricName !== undefined;
    return sourceId ?? (isMetric ? 'metrics' : 'logs');
  });
  const applies = ({ sourceIds }: ViewFilter) =>
    sourceIds.length === 0 || sources.every((source) => sourceIds.includes(source));
  return {
    sent: filters.filter(applies),
    notes: filters
      .filter((filter) => !applies(filter))
      .map(({ label }) => `Not filtered by ${label}, which is for other sources`),
  };
}

/** The notes of a tile, with what the server could not apply. */
export const listFilterNotes = (
  { sent, notes }: TileFilters,
  unapplied: readonly { filter: number; reason: string }[] = [],
): string[] => [
  ...notes,
  ...unapplied.map(({ filter, reason }) => `Not filtered by ${sent[filter]?.label ?? 'a filter'}: ${reason}`),
];
