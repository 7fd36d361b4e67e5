import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { formatError } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { formatDateTime } from '../../parts/format/times.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { TimeChart } from '../dashboards/tiles/time/time-chart.tsx';
import { toLines } from '../dashboards/tiles/time/time-series.ts';
import { histogramQuery } from './queries.ts';
import classes from './search.module.css';
import type { SearchState } from './use-search-state.ts';

const POINTS = 80;
const NUMBER_FORMAT = {};

/** The number of rows over time by severity or status. A drag zooms into the range. */
export function Histogram({ state, isLive }: { state: SearchState; isLive: boolean }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { matching, window, change } = state;
  const { data, error, isPlaceholderData } = useQuery(histogramQuery(api, organizationId, matching, window, POINTS));
  const lines = useMemo(() => (data ? toLines(data) : []), [data]);
  const zoom = useCallback(
    (start: number, end: number) =>
      change({ from: start, to: Math.max(end, start + 1), last: undefined, live: undefined }),
    [change],
  );
  const isEmpty = data?.series.every(({ values }) => values.every((value) => value === null || Number(value) === 0));
  return (
    <Panel>
      <div className={classes.histogram} data-old={isPlaceholderData} aria-busy={isPlaceholderData}>
        {error && !isPlaceholderData ? (
          <Text size="sm" c="dimmed">
            The rows over time could not be counted: {formatError(error)}
          </Text>
        ) : data === undefined ? (
          <Skeleton height="100%" />
        ) : isEmpty ? (
          <Text size="sm" c="dimmed">
            No rows from {formatDateTime(window.start, window.zone)} to {formatDateTime(window.end, window.zone)}
          </Text>
        ) : (
          <TimeChart
            label={`Rows over time by severity or status, interval ${data.granularity}`}
            lines={lines}
            buckets={data.buckets}
            start={data.start}
            end={data.end}
            zone={window.zone}
            drawing="stacked_bar"
            format={NUMBER_FORMAT}
            partialBuckets={data.partialBuckets}
            onZoom={zoom}
          />
        )}
      </div>
      {isLive && data && (
        <Text size="xs" c="dimmed">
          Counted until {formatDateTime(window.end, window.zone)}; rows that arrive now are only in the list.
        </Text>
      )}
    </Panel>
  );
}
