import { useIntersection } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import classes from '../../parts/alerts/alert-chart.module.css';
import { formatThreshold, INTERVAL_MS } from '../../parts/alerts/alert-status.ts';
import { computeRange, listLines, toChartThreshold } from '../../parts/alerts/chart-scale.ts';
import { plural } from '../../parts/format/format.ts';
import { toPoints } from './evaluation-points.ts';
import { recentEvaluationsQuery, SPARKLINE_WINDOWS } from './queries.ts';

const SIZE = { width: 120, height: 30, padding: 3 };

/** The last values of an alert with its threshold. It is loaded when it scrolls into view. */
export function AlertSparkline({ alert }: { alert: Alert }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { ref, entry } = useIntersection({ rootMargin: '160px 0px' });
  const { data } = useQuery({
    ...recentEvaluationsQuery(api, organizationId, alert.id),
    enabled: entry?.isIntersecting ?? false,
  });
  const threshold = toChartThreshold(alert.thresholdType, alert.threshold, alert.thresholdMax);
  const points = toPoints(data ?? [], alert.interval);
  const range = computeRange(points, threshold);
  const end = points.at(-1)?.end ?? 1;
  // The newest value is on the right, also if there are few.
  const start = Math.min(points[0]?.end ?? 0, end - (SPARKLINE_WINDOWS - 1) * INTERVAL_MS[alert.interval]);
  const toX = (at: number) =>
    SIZE.padding + ((at - start) / Math.max(end - start, 1)) * (SIZE.width - 2 * SIZE.padding);
  const toY = (value: number) =>
    SIZE.padding + (1 - (value - range[0]) / (range[1] - range[0])) * (SIZE.height - 2 * SIZE.padding);
  const values = points.flatMap(({ value }) => value ?? []);
  return (
    <div ref={ref} className={classes.sparkline}>
      {values.length > 0 && (
        <svg
          className={classes.sparkline}
          viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
          role="img"
          aria-label={`Last ${plural(values.length, 'value')}, threshold ${formatThreshold(alert)}`}
        >
          {threshold.limits.map((limit) => (
            <line key={limit} className={classes.threshold} x1={0} x2={SIZE.width} y1={toY(limit)} y2={toY(limit)} />
          ))}
          {listLines(points).map((line) =>
            line.length === 1 ? (
              <circle
                key={line[0]?.end}
                className={classes.point}
                cx={toX(line[0]?.end ?? 0)}
                cy={toY(line[0]?.value ?? 0)}
                r={2}
              />
            ) : (
              <polyline
                key={line[0]?.end}
                className={classes.line}
                points={line.map(({ end: at, value }) => `${toX(at).toFixed(1)},${toY(value).toFixed(1)}`).join(' ')}
              />
            ),
          )}
        </svg>
      )}
    </div>
  );
}
