import { queryOptions } from '@tanstack/react-query';
import type { Operations } from './generated.ts';

/** Costs of the current month to date, its forecast and the previous month. */
export const forecastQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'usageCost', 'forecast'],
    queryFn: ({ signal }) => api.usageCostForecastGet({ organizationId }, { signal }),
    staleTime: 60_000,
  });
