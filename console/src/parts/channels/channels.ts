import { queryOptions } from '@tanstack/react-query';
import type { Operations, Webhook } from '../../api/generated.ts';

/** The interface calls a channel a webhook. */
export type Channel = Webhook;

export const SERVICE_LABELS: Readonly<Record<Channel['service'], string>> = {
  generic: 'Webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
  email: 'E-mail',
  incidentio: 'incident.io',
};

/** All channels: an organization has at most as many as one page of the list. */
export const channelsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'channels'],
    queryFn: ({ signal }) => api.listWebhooks({}, { signal }),
  });
