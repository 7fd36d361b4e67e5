import { queryOptions } from '@tanstack/react-query';
import { addDays, firstOfMonth } from '../parts/days.ts';
import type { Operations } from './generated.ts';
import { usageCostQuery } from './queries.ts';

/** Costs of the current month to date, its forecast and the previous month. */
export const forecastQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'usageCost', 'forecast'],
    queryFn: ({ signal }) => api.usageCostForecastGet({ organizationId }, { signal }),
    staleTime: 60_000,
  });

export function previousMonthQuery(api: Operations, organizationId: string, today: string) {
  const last = addDays(firstOfMonth(today), -1);
  return usageCostQuery(api, organizationId, firstOfMonth(last), last);
}
