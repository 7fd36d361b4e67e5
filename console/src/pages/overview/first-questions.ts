import type { QueryClient } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';
import { forecastQuery, previousMonthQuery } from '../../api/outlook.ts';
import { keysQuery, recentActivityQuery, servicesQuery, usageCostQuery } from '../../api/queries.ts';
import { dayOf, firstOfMonth } from '../../parts/days.ts';
import { RECENT_SHOWN } from './recent-activity.tsx';

/** Asks for everything that the page will ask for, while it is being drawn for the first time. What fails is the page's business to show. */
export function askForOverview(queries: QueryClient, api: Operations, organizationId: string): void {
  const today = dayOf(new Date());
  void queries.prefetchQuery(forecastQuery(api, organizationId));
  void queries.prefetchQuery(usageCostQuery(api, organizationId, firstOfMonth(today), today));
  void queries.prefetchQuery(previousMonthQuery(api, organizationId, today));
  void queries.prefetchQuery(servicesQuery(api, organizationId));
  void queries.prefetchQuery(recentActivityQuery(api, organizationId, RECENT_SHOWN));
  void queries.prefetchQuery(keysQuery(api, organizationId));
}
