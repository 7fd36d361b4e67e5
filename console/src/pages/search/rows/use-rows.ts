import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import type { Range } from '../../dashboards/time-window/range.ts';
import { type FoundRow, toFoundRows } from '../columns.ts';
import { type Matching, rowsQuery } from '../queries.ts';

const FIRST_ROWS = 100;
const MORE_ROWS = 200;
/** More are not kept in the page. */
const MAX_ROWS = 10_000;

export interface LoadedRows {
  rows: FoundRow[];
  /** Everything from this time to the end was searched; undefined before the first response. */
  searchedFrom: string | undefined;
  /** The whole range was searched. */
  isComplete: boolean;
  isSearching: boolean;
  /** There are more rows than the page keeps. */
  isFull: boolean;
  error: Error | null;
  loadMore: () => void;
  retry: () => void;
}

interface Input {
  matching: Matching;
  range: Range;
  select: string;
  columns: readonly string[];
}

/** Searches from the newest rows on, until there are enough for the screen; `loadMore` continues. */
export function useRows({ matching, range, select, columns }: Input): LoadedRows {
  const api = useApi();
  const { organizationId } = useSession();
  const options = rowsQuery(api, organizationId, matching, range, select, matching.sourceId !== '');
  const query = useInfiniteQuery(options);
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = query;
  const rows = useMemo(
    () => (data?.pages ?? []).flatMap((page) => toFoundRows(page.data, page.ids, columns)),
    [data, columns],
  );

  const key = JSON.stringify(options.queryKey);
  const [wanted, setWanted] = useState({ key, rows: FIRST_ROWS });
  const wantedRows = Math.min(wanted.key === key ? wanted.rows : FIRST_ROWS, MAX_ROWS);
  const isMoreWanted = hasNextPage && error === null && rows.length < wantedRows;
  useEffect(() => {
    if (isMoreWanted && !isFetching) void fetchNextPage();
  }, [isMoreWanted, isFetching, fetchNextPage]);

  return {
    rows,
    searchedFrom: data?.pages.at(-1)?.searchedFrom,
    isComplete: data !== undefined && !hasNextPage,
    isSearching: isFetching || isMoreWanted,
    isFull: hasNextPage && rows.length >= MAX_ROWS,
    error,
    loadMore: () => setWanted({ key, rows: rows.length + MORE_ROWS }),
    retry: () => void (data ? fetchNextPage() : refetch()),
  };
}
