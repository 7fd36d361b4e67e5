import { Button, Group, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { AlertChart } from '../../parts/alerts/alert-chart.tsx';
import { formatThreshold, INTERVAL_MS } from '../../parts/alerts/alert-status.ts';
import { toChartThreshold } from '../../parts/alerts/chart-scale.ts';
import { plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { toPoints } from './evaluation-points.ts';
import { evaluationsQuery } from './queries.ts';

const PER_PAGE = 300;
/** A few windows are not stretched over the whole width. */
const MIN_WINDOWS = 20;

/** The values and states that were observed, in pages back to the oldest one that is stored. */
export function AlertTimeline({ alert }: { alert: Alert }) {
  const api = useApi();
  const { organizationId } = useSession();
  /** Where each older page ends. */
  const [pages, setPages] = useState<string[]>([]);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    evaluationsQuery(api, organizationId, alert.id, { limit: PER_PAGE, before: pages.at(-1), onlyChanges: false }),
  );
  const points = useMemo(() => toPoints(data ?? [], alert.interval), [data, alert.interval]);
  const threshold = useMemo(
    () => toChartThreshold(alert.thresholdType, alert.threshold, alert.thresholdMax),
    [alert.thresholdType, alert.threshold, alert.thresholdMax],
  );
  const [first, last] = [points[0], points.at(-1)];
  const oldest = data?.at(-1)?.evaluatedAt;
  const hasOlder = data?.length === PER_PAGE && oldest !== undefined;
  return (
    <Panel
      title="Timeline"
      aside={
        (hasOlder || pages.length > 0) && (
          <Group gap="xs">
            <Button
              size="compact-sm"
              variant="default"
              disabled={!hasOlder || isPlaceholderData}
              onClick={() => oldest && setPages([...pages, oldest])}
            >
              Older
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              disabled={pages.length === 0}
              onClick={() => setPages(pages.slice(0, -1))}
            >
              Newer
            </Button>
          </Group>
        )
      }
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load evaluations" retry={() => refetch()} />
      ) : !data ? (
        <Skeleton height={240} />
      ) : first && last ? (
        <>
          <AlertChart
            label={`Values of ${plural(points.length, 'window')}, fires if ${formatThreshold(alert)}`}
            points={points}
            threshold={threshold}
            start={Math.min(first.start, last.end - MIN_WINDOWS * INTERVAL_MS[alert.interval])}
            end={last.end}
          />
          <Text size="xs" c="dimmed" mt={6}>
            {plural(points.length, 'evaluated window')} from <Timestamp at={new Date(first.start).toISOString()} /> to{' '}
            <Timestamp at={new Date(last.end).toISOString()} />. The value is the worst of all groups; gaps were not
            evaluated. The threshold is the current one.
          </Text>
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {pages.length > 0 ? 'There are no older evaluations.' : 'No window has been evaluated yet.'}
        </Text>
      )}
    </Panel>
  );
}
