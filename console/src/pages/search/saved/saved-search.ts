import type { SavedSearchInput } from '../../../api/generated.ts';
import { listDefaultColumns, splitExpressions } from '../columns.ts';
import type { SavedSearch } from '../queries.ts';
import type { RowSearch } from '../search.ts';
import type { SearchState } from '../use-search-state.ts';

type Filter = SavedSearch['filters'][number];

/** The SQL condition of a filter; undefined for Lucene, which a search accepts as its query only. */
function findCondition(filter: Filter): string | undefined {
  if (filter.type === 'sql_ast') return `${filter.left} ${filter.operator} ${filter.right}`;
  return (filter.type ?? 'sql') === 'sql' ? filter.condition : undefined;
}

/** The number of filters that the page cannot apply. */
export const countUnusable = ({ filters }: SavedSearch): number =>
  filters.filter((filter) => findCondition(filter) === undefined).length;

/** What is saved of the page. Filters that the saved search has in another form keep it. */
export function toBody({ source, search, columns, filters }: SearchState, saved?: SavedSearch): SavedSearchInput {
  const known = saved?.filters ?? [];
  return {
    name: saved?.name ?? '',
    tags: saved?.tags ?? [],
    sourceId: source.id,
    select: search.columns ? [source.timestampValueExpression, ...columns].join(', ') : '',
    where: search.where ?? '',
    whereLanguage: search.lang ?? 'lucene',
    orderBy: saved?.orderBy ?? '',
    filters: [
      ...filters.map(
        (condition) => known.find((one) => findCondition(one) === condition) ?? { type: 'sql' as const, condition },
      ),
      ...known.filter((filter) => findCondition(filter) === undefined),
    ],
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
