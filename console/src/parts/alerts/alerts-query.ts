import { queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';

/** Windows are evaluated every minute or less often. */
export const ALERT_POLL_MS = 15_000;

/** All alerts: an organization has at most as many as one page of the list. */
export const alertsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'alerts'],
    queryFn: ({ signal }) => api.listAlerts({}, { signal }),
    refetchInterval: ALERT_POLL_MS,
  });
