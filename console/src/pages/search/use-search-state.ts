import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { TimeWindow } from '../dashboards/queries.ts';
import { useTimeWindow } from '../dashboards/time-window/use-time-window.ts';
import type { Source } from '../dashboards/where/suggestions.ts';
import { listDefaultColumns, splitExpressions, toSelect } from './columns.ts';
import { type Choosing, choose } from './conditions.ts';
import type { Matching } from './queries.ts';
import type { RowSearch } from './search.ts';

/** What the URL says, applied to a source. */
export interface SearchState {
  search: RowSearch;
  source: Source;
  matching: Matching;
  filters: readonly string[];
  columns: readonly string[];
  select: string;
  window: TimeWindow;
  reload: () => void;
  /** Members that are undefined are removed. `isStep` adds a step to the history of the browser. */
  change: (part: Partial<RowSearch>, isStep?: boolean) => void;
  chooseValue: (expression: string, literal: string, how: Choosing) => void;
  toggleColumn: (expression: string) => void;
}

const NO_FILTERS: readonly string[] = [];

export function useSearchState(source: Source): SearchState {
  const search = useSearch({ from: '/signed-in/search' });
  const navigate = useNavigate({ from: '/search' });
  const { window, reload } = useTimeWindow(search);
  const { where = '', lang, filters = NO_FILTERS, columns: given } = search;
  const change = useCallback(
    (part: Partial<RowSearch>, isStep = true) =>
      void navigate({
        search: (before) =>
          Object.fromEntries(
            Object.entries({ ...before, ...part }).filter(([, value]) => value !== undefined),
          ) as RowSearch,
        replace: !isStep,
        resetScroll: false,
      }),
    [navigate],
  );

  const columns = useMemo(
    () => (given ? [...new Set(given.flatMap(splitExpressions))] : listDefaultColumns(source)),
    [given, source],
  );
  const matching = useMemo(
    (): Matching => ({
      sourceId: source.id,
      where,
      whereLanguage: lang ?? 'lucene',
      filters: filters.map((condition) => ({ type: 'sql', condition })),
    }),
    [source.id, where, lang, filters],
  );
  return {
    search,
    source,
    matching,
    filters,
    columns,
    select: useMemo(() => toSelect(source, columns), [source, columns]),
    window,
    reload,
    change,
    chooseValue: (expression, literal, how) => change({ filters: choose(filters, expression, literal, how) }),
    toggleColumn: (expression) =>
      change({
        columns: columns.includes(expression) ? columns.filter((one) => one !== expression) : [...columns, expression],
      }),
  };
}
