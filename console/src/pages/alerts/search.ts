import { type ShownStatus, STATUSES } from '../../parts/alerts/alert-status.ts';

export type StateFilter = ShownStatus | 'silenced';

/** URL parameters of the list. */
interface AlertsSearch {
  state?: StateFilter;
}

/** URL parameters of the form: what the new alert watches. */
export interface NewAlertSearch {
  savedSearchId?: string;
  dashboardId?: string;
  tileId?: string;
}

export function parseAlertsSearch({ state }: Record<string, unknown>): AlertsSearch {
  const found = [...STATUSES, 'silenced' as const].find((one) => one === state);
  return found ? { state: found } : {};
}

/** The router parses IDs of digits as numbers. */
const toId = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

export function parseNewAlertSearch(search: Record<string, unknown>): NewAlertSearch {
  const [savedSearchId, dashboardId, tileId] = [search.savedSearchId, search.dashboardId, search.tileId].map(toId);
  return {
    ...(savedSearchId ? { savedSearchId } : {}),
    ...(dashboardId ? { dashboardId } : {}),
    ...(tileId ? { tileId } : {}),
  };
}
