import { queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';

export const tokensQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'tokens'],
    queryFn: ({ signal }) => api.dashboardTokenGetList({ organizationId }, { signal }),
  });
