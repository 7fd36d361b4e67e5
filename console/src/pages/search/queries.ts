import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ListSavedSearchesResult, Operations, SearchContextBody, SearchRowsBody } from '../../api/generated.ts';
import { type TimeWindow, tileRequests } from '../dashboards/queries.ts';
import type { Range } from '../dashboards/time-window/range.ts';

export type SavedSearch = ListSavedSearchesResult[number];
type Row = Record<string, unknown>;

/** Which rows of a source. */
export type Matching = Required<Pick<SearchRowsBody, 'sourceId' | 'where' | 'whereLanguage' | 'filters'>>;

const PAGE_ROWS = 200;
/** What was found by then is shown; the cursor continues. */
const WAIT_MS = 1000;

interface RowsPage {
  data: Row[];
  ids: string[];
  nextCursor: string | null;
  /** ISO 8601. */
  searchedFrom: string;
}

const toTimes = ({ start, end }: Range) => ({
  startTime: new Date(start).toISOString(),
  endTime: new Date(end).toISOString(),
});

/** Reads the whole response of an operation, of which the client returns `data` only. */
async function readWhole<T>(call: (onResponse: (response: Response, payload: unknown) => void) => Promise<unknown>) {
  let whole: unknown;
  await call((_, payload) => {
    whole = payload;
  });
  return whole as T;
}

/** Rows, newest first. The keys start with those of dashboards, so that both refresh together. */
export const rowsQuery = (
  api: Operations,
  organizationId: string,
  matching: Matching,
  range: Range,
  select: string,
  isEnabled: boolean,
) =>
  infiniteQueryOptions({
    queryKey: [organizationId, 'tile-data', 'search-rows', matching, range.start, range.end, select],
    queryFn: ({ signal, pageParam }) =>
      tileRequests.run(signal, () =>
        readWhole<RowsPage>((onResponse) =>
          api.searchRows(
            {
              body: {
                ...matching,
                ...toTimes(range),
                select,
                cursor: pageParam,
                maxResults: PAGE_ROWS,
                maxWaitMs: WAIT_MS,
                withIds: true,
              },
            },
            { signal, onResponse },
          ),
        ),
      ),
    initialPageParam: 'start',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    enabled: isEnabled,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  });

export const histogramQuery = (
  api: Operations,
  organizationId: string,
  matching: Matching,
  { start, end, zone }: TimeWindow,
  points: number,
) =>
  queryOptions({
    queryKey: [organizationId, 'tile-data', 'search-histogram', matching, start, end, zone, points],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () =>
        api.searchHistogram({ body: { ...matching, ...toTimes({ start, end }), points, timezone: zone } }, { signal }),
      ),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  });

/** Every column of a row; null if it no longer exists. */
export const rowQuery = (api: Operations, organizationId: string, sourceId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'search-row', sourceId, id],
    queryFn: async ({ signal }): Promise<Row | null> => {
      const [row] = await tileRequests.run(signal, () => api.searchRows({ body: { sourceId, id } }, { signal }));
      return row ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

interface ContextPage {
  data: Row[];
  ids: string[];
  hasMoreBefore: boolean;
  hasMoreAfter: boolean;
}

export const contextQuery = (api: Operations, organizationId: string, body: SearchContextBody) =>
  queryOptions({
    queryKey: [organizationId, 'search-context', body],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () =>
        readWhole<ContextPage>((onResponse) => api.searchContext({ body }, { signal, onResponse })),
      ),
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });

/** The fields in the range. */
export const facetFieldsQuery = (api: Operations, organizationId: string, sourceId: string, range: Range) =>
  queryOptions({
    queryKey: [organizationId, 'tile-data', 'search-fields', sourceId, range.start, range.end],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () => api.listSearchFacets({ body: { sourceId, ...toTimes(range) } }, { signal })),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
    retry: false,
  });

/** The most frequent values of a field in the matching rows. */
export const facetValuesQuery = (
  api: Operations,
  organizationId: string,
  matching: Matching,
  range: Range,
  field: string,
  limit: number,
) =>
  queryOptions({
    queryKey: [organizationId, 'tile-data', 'search-values', matching, range.start, range.end, field, limit],
    queryFn: async ({ signal }) => {
      const body = { ...matching, ...toTimes(range), fields: [field], limit };
      const [values] = await tileRequests.run(signal, () => api.listSearchFacetValues({ body }, { signal }));
      return values ?? null;
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
    retry: false,
  });

export const savedSearchesQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'saved-searches'],
    queryFn: ({ signal }) => api.listSavedSearches({}, { signal }),
  });
