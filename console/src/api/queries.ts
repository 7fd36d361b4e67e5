import { keepPreviousData, QueryClient, queryOptions } from '@tanstack/react-query';
import { ApiError } from './errors.ts';
import type { Operations } from './generated.ts';
import { readPage } from './pages.ts';

const MAX_RETRIES = 2;

/** Retries network errors, rate limits and server errors. */
const shouldRetry = (failures: number, error: unknown): boolean =>
  failures < MAX_RETRIES &&
  error instanceof ApiError &&
  (error.status === 0 || error.status === 429 || error.status >= 500);

export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: { staleTime: 15_000, gcTime: 600_000, retry: shouldRetry, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });

const HOUR_MS = 3_600_000;
/** The load is recorded once a minute. */
const AUTOSCALING_POLL_MS = 60_000;

const FIRST_SERVICES = 20;

/** The first services. Every query key starts with the organization, so organizations never share cached data. */
export const firstServicesQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'services', 'first'],
    queryFn: ({ signal }) =>
      readPage((options) => api.instanceGetList({ organizationId, limit: FIRST_SERVICES }, options), signal),
  });

/** The services that a text finds, at most 20. */
export const foundServicesQuery = (api: Operations, organizationId: string, text: string) =>
  queryOptions({
    queryKey: [organizationId, 'services', 'found', text],
    queryFn: ({ signal }) =>
      api.instanceGetList(
        { organizationId, limit: FIRST_SERVICES, sort: 'name', ...(text === '' ? {} : { search: text }) },
        { signal },
      ),
  });

export const sourcesQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'sources'],
    queryFn: ({ signal }) => api.listSources({}, { signal }),
  });

export const serviceQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'services', serviceId],
    queryFn: ({ signal }) => api.instanceGet({ organizationId, serviceId }, { signal }),
  });

/** `state`: the status is read again when it changes. */
export const idleStatusQuery = (api: Operations, organizationId: string, serviceId: string, state: string) =>
  queryOptions({
    queryKey: [organizationId, 'idle', serviceId, state],
    queryFn: ({ signal }) => api.instanceIdleGet({ organizationId, serviceId }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

export const autoscalingQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'autoscaling', serviceId],
    queryFn: ({ signal }) => api.instanceAutoscalingGet({ organizationId, serviceId }, { signal }),
    refetchInterval: AUTOSCALING_POLL_MS,
  });

/** The load of the last hours, at most 744. */
export const autoscalingHistoryQuery = (api: Operations, organizationId: string, serviceId: string, hours: number) =>
  queryOptions({
    queryKey: [organizationId, 'autoscaling', serviceId, 'history', hours],
    queryFn: ({ signal }) => {
      const to = Date.now();
      const range = { from: new Date(to - hours * HOUR_MS).toISOString(), to: new Date(to).toISOString() };
      return api.instanceAutoscalingHistoryGet({ organizationId, serviceId, ...range }, { signal });
    },
    refetchInterval: AUTOSCALING_POLL_MS,
  });

export const keysQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'keys'],
    queryFn: ({ signal }) => api.openapiKeyGetList({ organizationId }, { signal }),
  });

export const rolesQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'roles'],
    queryFn: async ({ signal }) => {
      const roles = await api.organizationRolesGetList({ organizationId }, { signal });
      // Some system roles are listed twice, the second time with the name that other clients look for.
      return roles.filter(({ id }, index) => roles.findIndex((other) => other.id === id) === index);
    },
  });

/** Days as YYYY-MM-DD, both inclusive; at most 31 days. */
export const usageCostQuery = (api: Operations, organizationId: string, from: string, to: string) =>
  queryOptions({
    queryKey: [organizationId, 'usageCost', from, to],
    queryFn: ({ signal }) => api.usageCostGet({ organizationId, from_date: from, to_date: to }, { signal }),
    staleTime: 60_000,
  });

/** As `usageCostQuery`, for some services: at most 100. */
export const serviceCostsQuery = (
  api: Operations,
  organizationId: string,
  from: string,
  to: string,
  serviceIds: readonly string[],
) =>
  queryOptions({
    queryKey: [organizationId, 'usageCost', from, to, serviceIds],
    queryFn: ({ signal }) =>
      api.usageCostGet({ organizationId, from_date: from, to_date: to, service_id: [...serviceIds] }, { signal }),
    staleTime: 60_000,
  });

/** The costs of these days in total, and those of the warehouses. */
export const costTotalsQuery = (api: Operations, organizationId: string, from: string, to: string) =>
  queryOptions({
    queryKey: [organizationId, 'usageCost', 'totals', from, to],
    queryFn: ({ signal }) =>
      api.usageCostSummaryGet(
        { organizationId, from_date: from, to_date: to, by: 'all', group: 'entityType' },
        { signal },
      ),
    staleTime: 60_000,
  });

export const recentActivityQuery = (api: Operations, organizationId: string, limit: number) =>
  queryOptions({
    queryKey: [organizationId, 'activities', 'recent', limit],
    queryFn: ({ signal }) => api.activityGetList({ organizationId, limit }, { signal }),
  });
