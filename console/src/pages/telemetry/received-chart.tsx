import { Button, Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Panel } from '../../parts/layout/panel.tsx';
import { TimeChart } from '../dashboards/tiles/time/time-chart.tsx';
import type { Line } from '../dashboards/tiles/time/time-series.ts';
import type { Report, Signal } from './queries.ts';
import classes from './telemetry.module.css';
import { SIGNAL_LABELS } from './words.ts';

type Unit = 'Records' | 'Bytes';
type Bucket = Report['buckets'][number];

const SIGNALS = Object.keys(SIGNAL_LABELS) as Signal[];

interface Props {
  report: Report | undefined;
  /** What the chart is narrowed to. */
  selected: string | undefined;
  onClear: () => void;
}

/** Accepted records by signal, and rejected ones, over time. */
export function ReceivedChart({ report, selected, onClear }: Props) {
  const [unit, setUnit] = useState<Unit>('Records');
  const chart = useMemo(() => report && toChart(report, unit), [report, unit]);
  return (
    <Panel
      title="Received"
      aside={
        <Group gap="xs">
          {selected !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              classNames={{ root: classes.chosen, label: classes.chosenText }}
              rightSection={<span aria-hidden="true">×</span>}
              onClick={onClear}
              aria-label={`Show all senders, not only ${selected}`}
            >
              {selected}
            </Button>
          )}
          <SegmentedControl
            size="xs"
            aria-label="Unit"
            data={['Records', 'Bytes']}
            value={unit}
            onChange={(value) => setUnit(value as Unit)}
          />
        </Group>
      }
    >
      {!chart ? (
        <Skeleton height={260} />
      ) : chart.lines.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing was received in this time range.
        </Text>
      ) : (
        <div className={classes.chart}>
          <TimeChart
            label={`${unit} received over time: ${chart.lines.map(({ label }) => label).join(', ')}`}
            {...chart}
            zone={Intl.DateTimeFormat().resolvedOptions().timeZone}
            drawing="stacked_bar"
            format={unit === 'Bytes' ? { output: 'byte' } : {}}
            partialBuckets={undefined}
          />
        </div>
      )}
    </Panel>
  );
}

/** Signals without records have no line. */
function toChart({ from, to, bucketSeconds, buckets }: Report, unit: Unit) {
  const step = bucketSeconds * 1000;
  const first = Math.floor(Date.parse(from) / step) * step;
  const end = Date.parse(to);
  const starts = Array.from({ length: Math.ceil((end - first) / step) }, (_, index) => first + index * step);
  const toLine = (label: string, read: (bucket: Bucket) => number): Line => {
    const values = new Map<number, number>();
    for (const bucket of buckets) {
      const at = Date.parse(bucket.start);
      values.set(at, (values.get(at) ?? 0) + read(bucket));
    }
    return { label, values: starts.map((at) => values.get(at) ?? 0) };
  };
  const accepted = unit === 'Bytes' ? 'acceptedBytes' : 'acceptedRecords';
  const rejected = unit === 'Bytes' ? 'rejectedBytes' : 'rejectedRecords';
  const lines = [
    ...SIGNALS.map((signal) =>
      toLine(SIGNAL_LABELS[signal], (bucket) => (bucket.signal === signal ? bucket[accepted] : 0)),
    ),
    toLine('Rejected', (bucket) => bucket[rejected]),
  ].filter(({ values }) => values.some((value) => value !== 0));
  return { lines, buckets: starts, start: first, end: Math.max(end, first + step) };
}
