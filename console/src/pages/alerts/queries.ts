import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Alert, AlertInput, Operations } from '../../api/generated.ts';
import { readPage } from '../../api/pages.ts';
import { ALERT_POLL_MS } from '../../parts/alerts/alerts-query.ts';
import { tileRequests } from '../dashboards/queries.ts';

export const alertQuery = (api: Operations, organizationId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'alerts', id],
    queryFn: ({ signal }) => api.getAlert({ id }, { signal }),
    refetchInterval: ALERT_POLL_MS,
  });

export interface StoredAlert {
  alert: Alert;
  etag: string;
}

/** Read anew for each form, with the etag that a change sends back. */
export const editedAlertQuery = (api: Operations, organizationId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'alerts', id, 'edited'],
    gcTime: 0,
    async queryFn({ signal }): Promise<StoredAlert> {
      let etag = '';
      const alert = await api.getAlert(
        { id },
        {
          signal,
          onResponse({ headers }) {
            etag = headers.get('etag') ?? '';
          },
        },
      );
      return { alert, etag };
    },
  });

export const SPARKLINE_WINDOWS = 40;

/** The newest evaluations, for a row of the list. */
export const recentEvaluationsQuery = (api: Operations, organizationId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'alerts', id, 'recent'],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () => api.listAlertEvaluations({ id, limit: SPARKLINE_WINDOWS }, { signal })),
    refetchInterval: 4 * ALERT_POLL_MS,
  });

/** Newest first. `before`: those evaluated before this time. */
export const evaluationsQuery = (
  api: Operations,
  organizationId: string,
  id: string,
  { limit, before, onlyChanges }: { limit: number; before: string | undefined; onlyChanges: boolean },
) =>
  queryOptions({
    queryKey: [organizationId, 'alerts', id, 'evaluations', limit, before, onlyChanges],
    queryFn: ({ signal }) =>
      api.listAlertEvaluations(
        { id, limit, ...(before ? { before } : {}), ...(onlyChanges ? { changes: 'true' as const } : {}) },
        { signal },
      ),
    refetchInterval: before === undefined && ALERT_POLL_MS,
    placeholderData: keepPreviousData,
  });

export const groupsQuery = (api: Operations, organizationId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'alerts', id, 'groups'],
    queryFn: ({ signal }) => api.listAlertGroups({ id }, { signal }),
    refetchInterval: ALERT_POLL_MS,
  });

const MESSAGES_PER_PAGE = 20;
/** While a message waits. */
const WAITING_POLL_MS = 2000;

/** What was sent about an alert, newest first. */
export const messagesQuery = (api: Operations, organizationId: string, subjectId: string) =>
  infiniteQueryOptions({
    queryKey: [organizationId, 'alerts', subjectId, 'messages'],
    queryFn: ({ pageParam, signal }) =>
      readPage(
        (options) =>
          api.listNotifications(
            { subjectId, limit: MESSAGES_PER_PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) },
            options,
          ),
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ records }) => records.some(({ status }) => status === 'pending'))
        ? WAITING_POLL_MS
        : ALERT_POLL_MS,
  });

/** A draft over the past. It reads up to 30 days, so it is not repeated by itself. */
export const replayQuery = (api: Operations, organizationId: string, alert: AlertInput, days: number) =>
  queryOptions({
    queryKey: [organizationId, 'alert-replay', days, JSON.stringify(alert)],
    queryFn: ({ signal }) => tileRequests.run(signal, () => api.previewAlert({ body: { alert, days } }, { signal })),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
