/** What the address of the list of dashboards holds. */
export type DashboardsSearch = Record<string, never>;
export const dashboardsSearch = (_search: Record<string, unknown>): DashboardsSearch => ({});

/** What the address of one dashboard holds. */
export type DashboardSearch = Record<string, never>;
export const dashboardSearch = (_search: Record<string, unknown>): DashboardSearch => ({});
