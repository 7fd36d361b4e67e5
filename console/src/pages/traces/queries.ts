import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  GetServiceMapResult,
  ListTraceOperationsResult,
  Operations,
  SearchTracesBody,
  SearchTracesResult,
} from '../../api/generated.ts';
import { type TimeWindow, tileRequests } from '../dashboards/queries.ts';
import type { TraceSearch, TracesSearch } from './search.ts';

export type FoundTrace = SearchTracesResult['traces'][number];
export type Operation = ListTraceOperationsResult['operations'][number];
export type Sampling = ListTraceOperationsResult['sampling'];
export type ServiceMap = GetServiceMapResult;

export const DEFAULT_SOURCE = 'traces';

export const traceQuery = (
  api: Operations,
  organizationId: string,
  traceId: string,
  { source, logSource }: TraceSearch,
) =>
  queryOptions({
    queryKey: [organizationId, 'trace', traceId, source, logSource],
    queryFn: ({ signal }) =>
      api.getTrace(
        { traceId, ...(source ? { sourceId: source } : {}), ...(logSource ? { logSourceId: logSource } : {}) },
        { signal },
      ),
    retry: false,
    // Up to 40 MiB: read again after a while only, because spans may still arrive.
    staleTime: 60_000,
    gcTime: 60_000,
  });

/** The spans that the page is about. */
const toSelection = ({ source, where, lang }: TracesSearch, { start, end }: TimeWindow) => ({
  start,
  end,
  ...(source ? { sourceId: source } : {}),
  ...(where ? { where, whereLanguage: lang ?? ('lucene' as const) } : {}),
});

/** Kept while another range loads; a failed request is shown at once, because it is usually a wrong condition. */
const REQUEST = {
  placeholderData: keepPreviousData,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 60_000,
  retry: false,
} as const;

const TRACES_SHOWN = 100;

export const tracesQuery = (api: Operations, organizationId: string, search: TracesSearch, window: TimeWindow) => {
  const { order, min, max, partStart, partEnd, view: _view, ...rest } = search;
  const part = { start: partStart ?? window.start, end: partEnd ?? window.end, zone: window.zone };
  const body: SearchTracesBody = {
    ...toSelection(rest, part),
    limit: TRACES_SHOWN,
    ...(order ? { orderBy: order } : {}),
    ...(min === undefined ? {} : { minDurationNs: min }),
    ...(max === undefined ? {} : { maxDurationNs: max }),
  };
  return queryOptions({
    queryKey: [organizationId, 'tile-data', 'traces', body],
    queryFn: ({ signal }) => tileRequests.run(signal, () => api.searchTraces({ body }, { signal })),
    ...REQUEST,
  });
};

export const operationsQuery = (api: Operations, organizationId: string, search: TracesSearch, window: TimeWindow) => {
  const body = toSelection(search, window);
  return queryOptions({
    queryKey: [organizationId, 'tile-data', 'operations', body],
    queryFn: ({ signal }) => tileRequests.run(signal, () => api.listTraceOperations({ body }, { signal })),
    ...REQUEST,
  });
};

export const serviceMapQuery = (api: Operations, organizationId: string, search: TracesSearch, window: TimeWindow) => {
  const body = toSelection(search, window);
  return queryOptions({
    queryKey: [organizationId, 'tile-data', 'service-map', body],
    queryFn: ({ signal }) => tileRequests.run(signal, () => api.getServiceMap({ body }, { signal })),
    ...REQUEST,
  });
};
