import { queryOptions } from '@tanstack/react-query';
import { ApiError } from './errors.ts';
import type { InstanceCreatePreviewBody, Operations } from './generated.ts';

/** Null: the service has none. */
export const queryEndpointQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'query-endpoint', serviceId],
    queryFn: ({ signal }) =>
      api.instanceQueryEndpointGet({ organizationId, serviceId }, { signal }).catch((error) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }),
  });

export const backupConfigurationQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'backup-configuration', serviceId],
    queryFn: ({ signal }) => api.backupConfigurationGet({ organizationId, serviceId }, { signal }),
  });

const BACKUP_POLL_MS = 10_000;
/** While the server works on one. */
const BACKUP_PROGRESS_MS = 1000;

export const backupsQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'backups', serviceId],
    queryFn: ({ signal }) => api.backupGetList({ organizationId, serviceId }, { signal }),
    refetchInterval: ({ state }) => {
      const isWorking = state.data?.some(
        ({ status, verification }) => status === 'in_progress' || verification?.status === 'in_progress',
      );
      return isWorking ? BACKUP_PROGRESS_MS : BACKUP_POLL_MS;
    },
  });

const SCHEDULE_POLL_MS = 60_000;

export const scheduleQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'scaling-schedule', serviceId],
    queryFn: ({ signal }) => api.scalingScheduleGet({ organizationId, serviceId }, { signal }),
    refetchInterval: SCHEDULE_POLL_MS,
  });

const LOG_POLL_MS = 10_000;

export const logQuery = (api: Operations, organizationId: string, serviceId: string, lines: number) =>
  queryOptions({
    queryKey: [organizationId, 'log', serviceId, lines],
    queryFn: ({ signal }) => api.instanceLogGet({ organizationId, serviceId, lines }, { signal }),
    refetchInterval: LOG_POLL_MS,
  });

export const slowQueriesQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'slow-queries', serviceId],
    queryFn: ({ signal }) => api.instanceSlowQueriesGet({ organizationId, serviceId }, { signal }),
    refetchInterval: LOG_POLL_MS,
  });

/** The size and the monthly cost of a service that would be created. */
export const newServicePreviewQuery = (api: Operations, organizationId: string, body: InstanceCreatePreviewBody) =>
  queryOptions({
    queryKey: [organizationId, 'new-service-preview', body],
    queryFn: ({ signal }) => api.instanceCreatePreview({ organizationId, body }, { signal }),
    retry: false,
  });
