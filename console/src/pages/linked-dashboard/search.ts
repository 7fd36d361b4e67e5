import { type DashboardSearch, parseDashboardSearch } from '../dashboards/search.ts';

/** URL parameters of a shared dashboard. */
export type SharedSearch = Pick<DashboardSearch, 'last' | 'from' | 'to' | 'refresh' | 'utc'>;

export function parseSharedSearch(search: Record<string, unknown>): SharedSearch {
  const { kiosk: _kiosk, edit: _edit, tile: _tile, ...shared } = parseDashboardSearch(search);
  return shared;
}
