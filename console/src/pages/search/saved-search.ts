import type { SavedSearchInput } from '../../api/generated.ts';
import { listDefaultColumns, splitExpressions } from './columns.ts';
import type { SavedSearch } from './queries.ts';
import type { RowSearch } from './search.ts';
import type { SearchState } from './use-search-state.ts';

type Filter = SavedSearch['filters'][number];

const findCondition = (filter: Filter): string | undefined =>
  'condition' in filter && (filter.type ?? 'sql') === 'sql' ? filter.condition : undefined;

/** What is saved of the page. Filters of a form that the page cannot use are kept. */
export function toBody({ source, search, columns, filters }: SearchState, saved?: SavedSearch): SavedSearchInput {
  const unused = (saved?.filters ?? []).filter((filter) => findCondition(filter) === undefined);
  return {
    name: saved?.name ?? '',
    tags: saved?.tags ?? [],
    sourceId: source.id,
    select: search.columns ? [source.timestampValueExpression, ...columns].join(', ') : '',
    where: search.where ?? '',
    whereLanguage: search.lang ?? 'lucene',
    orderBy: saved?.orderBy ?? '',
    filters: [...filters.map((condition) => ({ type: 'sql' as const, condition })), ...unused],
  };
}

/** The URL parameters of a saved search. The range stays. */
export function toRowSearch(saved: SavedSearch): Partial<RowSearch> {
  const columns = splitExpressions(saved.select);
  const filters = saved.filters.flatMap((filter) => findCondition(filter) ?? []);
  return {
    source: saved.sourceId,
    where: saved.where === '' ? undefined : saved.where,
    lang: saved.whereLanguage === 'sql' ? 'sql' : undefined,
    columns: columns.length === 0 ? undefined : columns,
    filters: filters.length === 0 ? undefined : filters,
    row: undefined,
    saved: saved.id,
  };
}

/** Whether the page shows what was saved. */
export function isSameSearch(state: SearchState, saved: SavedSearch): boolean {
  const { source, search, columns, filters } = state;
  const { columns: savedColumns = listDefaultColumns(source), ...other } = toRowSearch(saved);
  const time = source.timestampValueExpression;
  const toText = (parts: readonly unknown[]) => JSON.stringify(parts);
  return (
    toText([source.id, search.where ?? '', search.lang ?? '', columns, filters]) ===
    toText([
      other.source,
      other.where ?? '',
      other.lang ?? '',
      savedColumns.filter((column) => column !== time),
      other.filters ?? [],
    ])
  );
}
