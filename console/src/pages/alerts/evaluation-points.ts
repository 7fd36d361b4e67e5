import type { Alert, AlertEvaluation } from '../../api/generated.ts';
import { INTERVAL_MS } from '../../parts/alerts/alert-status.ts';
import type { ChartPoint } from '../../parts/alerts/chart-scale.ts';

/** Oldest first. Of several evaluations of a window, which failed and were repeated, the last one counts. */
export function toPoints(evaluations: readonly AlertEvaluation[], interval: Alert['interval']): ChartPoint[] {
  const points = new Map<number, ChartPoint>();
  for (const { windowEnd, value, status } of evaluations.toReversed()) {
    const end = Date.parse(windowEnd);
    points.set(end, { start: end - INTERVAL_MS[interval], end, value, status });
  }
  return [...points.values()].toSorted((one, other) => one.end - other.end);
}
