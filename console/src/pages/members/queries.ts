import { queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';

export const membersQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'members'],
    queryFn: ({ signal }) => api.memberGetList({ organizationId }, { signal }),
  });

export const invitationsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'invitations'],
    queryFn: ({ signal }) => api.invitationGetList({ organizationId }, { signal }),
  });

export const memberSessionsQuery = (api: Operations, organizationId: string, userId: string) =>
  queryOptions({
    queryKey: [organizationId, 'members', userId, 'sessions'],
    queryFn: ({ signal }) => api.memberSessionGetList({ organizationId, userId }, { signal }),
    staleTime: 0,
  });
