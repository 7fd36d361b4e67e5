import { Button, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ApiError, formatError } from '../../../api/errors.ts';
import type { AlertInput, AlertPreview } from '../../../api/generated.ts';
import { AlertChart } from '../../../parts/alerts/alert-chart.tsx';
import {
  formatAlertValue,
  formatGroup,
  formatThreshold,
  INTERVAL_MS,
  type ShownStatus,
} from '../../../parts/alerts/alert-status.ts';
import { type ChartPoint, toChartThreshold } from '../../../parts/alerts/chart-scale.ts';
import { plural } from '../../../parts/format/format.ts';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { DataTable } from '../../../parts/tables/data-table.tsx';
import { formatValue } from '../../dashboards/number-format.ts';
import classes from '../alerts.module.css';

const RANGES = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
];
const SHOWN_INCIDENTS = 20;

interface Props {
  /** Why there is no replay. */
  reason: string | undefined;
  alert: AlertInput;
  replay: UseQueryResult<AlertPreview>;
  /** The replay is older than the form. */
  isOld: boolean;
  days: number;
  onDays: (days: number) => void;
  onRun: () => void;
}

/** When the draft would have fired, with the code that evaluates it later. */
export function ReplayPanel({ reason, alert, replay, isOld, days, onDays, onRun }: Props) {
  const { data, error, isFetching } = replay;
  return (
    <Panel
      title="Replay"
      aside={
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Range of the replay"
            data={RANGES}
            value={String(days)}
            onChange={(value) => onDays(Number(value))}
          />
          <Button
            size="xs"
            variant="default"
            disabled={reason !== undefined}
            loading={isFetching && reason === undefined}
            onClick={onRun}
          >
            Run again
          </Button>
        </Group>
      }
    >
      {reason !== undefined ? (
        <Text size="sm" c="dimmed">
          {reason}
        </Text>
      ) : error && !isFetching ? (
        <Text size="sm" c="var(--ph-bad)" role="alert">
          {isAboutFields(error) ? 'Correct the marked fields to run the replay.' : `No replay: ${formatError(error)}`}
        </Text>
      ) : data ? (
        <Replay data={data} alert={alert} isOld={isOld || isFetching} />
      ) : (
        <Skeleton height={240} />
      )}
    </Panel>
  );
}

const isAboutFields = (error: unknown): boolean => error instanceof ApiError && error.fields.length > 0;

function Replay({ data, alert, isOld }: { data: AlertPreview; alert: AlertInput; isOld: boolean }) {
  const points = useMemo(() => toChartPoints(data, alert.interval), [data, alert.interval]);
  const threshold = useMemo(
    () => toChartThreshold(alert.thresholdType, alert.threshold, alert.thresholdMax),
    [alert.thresholdType, alert.threshold, alert.thresholdMax],
  );
  const shown = data.incidents.toReversed().slice(0, SHOWN_INCIDENTS);
  const count = data.incidents.length + data.moreIncidents;
  const hasGroups = data.incidents.some(({ group }) => group.length > 0);
  return (
    <Stack gap="md" className={classes.replay} data-old={isOld} aria-busy={isOld}>
      <Text size="sm" role="status" data-testid="replay-summary">
        {describeReplay(data, count)}
      </Text>
      <AlertChart
        label={`Values of ${plural(data.windows, 'window')}, fires if ${formatThreshold(alert)}`}
        points={points}
        threshold={threshold}
        start={Date.parse(data.start)}
        end={Date.parse(data.end)}
      />
      {count > 0 && (
        <DataTable
          label="Incidents"
          rows={shown}
          rowKey={({ group, start }) => JSON.stringify([group, start])}
          columns={[
            { header: 'Start', cell: ({ start }) => <Timestamp at={start} /> },
            ...(hasGroups
              ? [{ header: 'Group', cell: ({ group }: { group: string[] }) => formatGroup(group) || '–' }]
              : []),
            {
              header: 'Duration',
              align: 'right',
              cell: ({ seconds, end }) =>
                `${formatValue(seconds, { output: 'duration' })}${end === undefined ? ', still firing' : ''}`,
            },
            { header: 'Peak', align: 'right', cell: ({ peak }) => formatAlertValue(peak) },
          ]}
        />
      )}
      {count > shown.length && (
        <Text size="xs" c="dimmed">
          The newest {plural(shown.length, 'incident')} of {count}.
        </Text>
      )}
    </Stack>
  );
}

function describeReplay({ windows, firingSeconds, messages }: AlertPreview, incidents: number): string {
  if (incidents === 0)
    return `It would not have fired in ${plural(windows, 'window')}. Each channel would have received ${plural(messages, 'message')}.`;
  const length = formatValue(firingSeconds, { output: 'duration' });
  return `It would have fired ${plural(incidents, 'time')}, for ${length} in total. Each channel would have received ${plural(messages, 'message')}.`;
}

/** A point stands for the windows until the next one. */
function toChartPoints({ points, end }: AlertPreview, interval: AlertInput['interval']): ChartPoint[] {
  return points.map(({ time, value, status }, index) => {
    const start = Date.parse(time);
    const next = points[index + 1]?.time ?? end;
    return {
      start,
      end: Math.max(Date.parse(next), start + INTERVAL_MS[interval]),
      value,
      status: status as ShownStatus,
    };
  });
}
