import { Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { autoscalingHistoryQuery } from '../../../api/queries.ts';
import type { AutoscalingTimeline, Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import classes from './autoscaling.module.css';
import { AutoscalingChart } from './autoscaling-chart.tsx';
import { formatDecision } from './decision-text.ts';

/** Hours; the server accepts at most 31 days. */
const RANGES = [
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
  { value: '744', label: '31 days' },
];

/** Below the chart. */
const MAX_DECISIONS = 5;

/** Load, size, decisions and cost of the last hours or days. */
export function AutoscalingHistory({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId } = useSession();
  const [hours, setHours] = useState('24');
  const { data, error, refetch } = useQuery(autoscalingHistoryQuery(api, organizationId, service.id, Number(hours)));
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Text size="sm" fw={600}>
          Load, size and cost
        </Text>
        <SegmentedControl size="xs" aria-label="Time range" data={RANGES} value={hours} onChange={setHours} />
      </Group>
      {data ? (
        <Timeline timeline={data} />
      ) : error ? (
        <ErrorNotice error={error} title="Could not load the history" retry={() => refetch()} />
      ) : (
        <Skeleton height={240} />
      )}
    </div>
  );
}

function Timeline({ timeline }: { timeline: AutoscalingTimeline }) {
  const { points, decisions } = timeline;
  const newest = decisions.toReversed().slice(0, MAX_DECISIONS);
  return (
    <>
      {points.length === 0 ? (
        <Text size="sm" c="dimmed">
          No load has been recorded in this time range.
        </Text>
      ) : (
        <AutoscalingChart timeline={timeline} />
      )}
      {newest.length > 0 && (
        <ul className={classes.decisions} aria-label="Decisions">
          {newest.map((decision) => (
            <li key={decision.id}>
              <Text size="sm">
                {formatDecision(decision)}{' '}
                <span className={classes.mark}>{decision.isApplied ? 'applied' : 'recommended'}</span>
              </Text>
              <Text size="xs" c="dimmed">
                <Timestamp at={decision.at} /> · {decision.reason}
              </Text>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
