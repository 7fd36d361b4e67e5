import { planExponentialHistogram, planHistogram, planSummary } from './distribution-series.ts';
import { planEventSeries } from './event-series.ts';
import type { Plan, SeriesQuery } from './series-query.ts';
import { planGauge, planSum } from './value-series.ts';

/** Plans the statement of a series by its kind of data. */
export function planSeries(query: SeriesQuery): Plan {
  switch (query.metricDataType) {
    case undefined:
      return planEventSeries(query);
    case 'gauge':
      return planGauge(query);
    case 'sum':
      return planSum(query);
    case 'histogram':
      return planHistogram(query);
    case 'exponential histogram':
      return planExponentialHistogram(query);
    case 'summary':
      return planSummary(query);
  }
}
