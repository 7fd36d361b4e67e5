import { queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';

/** The size of one page of the audit log. Creators of older keys are not shown. */
const MAX_CREATIONS = 1000;

/** The name of the key or program that created each key, by the id of the created key. */
export const keyCreatorsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'activities', 'key-creators'],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const created = await api.activityGetList(
        { organizationId, type: 'key_create', limit: MAX_CREATIONS },
        { signal },
      );
      return new Map(created.map(({ resourceId, actorDetails }) => [resourceId, actorDetails]));
    },
  });
