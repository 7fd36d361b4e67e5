import { queryChartSeriesConstraints, updateDashboardConstraints } from '../../api/generated.ts';

// Limits and choices of the dashboard API.
export const dashboardConstraints = updateDashboardConstraints;
export const tileConstraints = updateDashboardConstraints.tiles.items.properties;
export const seriesConstraints = tileConstraints.series.items.properties;
/** The server's table of aggregations. */
export const AGGREGATIONS = queryChartSeriesConstraints.series.items.properties.aggFn.aggregations;
