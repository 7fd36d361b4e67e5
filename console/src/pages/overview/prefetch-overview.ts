import type { QueryClient } from '@tanstack/react-query';
import { forecastQuery } from '../../api/forecast-queries.ts';
import type { Operations } from '../../api/generated.ts';
import { costTotalsQuery, firstServicesQuery, keysQuery, recentActivityQuery } from '../../api/queries.ts';
import { alertsQuery } from '../../parts/alerts/alerts-query.ts';
import { firstOfMonth, toDay } from '../../parts/format/days.ts';
import { RECENT_LIMIT } from './recent-activity.tsx';

/** Starts all requests of the page before its first render. The page itself shows their errors. */
export function prefetchOverview(
  queries: QueryClient,
  api: Operations,
  organizationId: string,
  canSeeDashboards: boolean,
): void {
  const today = toDay(new Date());
  void queries.prefetchQuery(forecastQuery(api, organizationId));
  void queries.prefetchQuery(costTotalsQuery(api, organizationId, firstOfMonth(today), today));
  void queries.prefetchQuery(firstServicesQuery(api, organizationId));
  void queries.prefetchQuery(recentActivityQuery(api, organizationId, RECENT_LIMIT));
  void queries.prefetchQuery(keysQuery(api, organizationId));
  if (canSeeDashboards) void queries.prefetchQuery(alertsQuery(api, organizationId));
}
