import { planExponentialHistogram, planHistogram, planSummary } from './distribution-series.ts';
import { planEventSeries } from './event-series.ts';
import type { Plan, Reading } from './reading.ts';
import { planGauge, planSum } from './value-series.ts';

/** A series → the statement that answers it. */
export function planSeries(reading: Reading): Plan {
  switch (reading.metricDataType) {
    case undefined:
      return planEventSeries(reading);
    case 'gauge':
      return planGauge(reading);
    case 'sum':
      return planSum(reading);
    case 'histogram':
      return planHistogram(reading);
    case 'exponential histogram':
      return planExponentialHistogram(reading);
    case 'summary':
      return planSummary(reading);
  }
}
