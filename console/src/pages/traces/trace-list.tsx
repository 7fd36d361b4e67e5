import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useSession } from '../../app/context.tsx';
import { formatNumber, plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import type { TimeWindow } from '../dashboards/queries.ts';
import { formatNs } from './durations.ts';
import { type FoundTrace, tracesQuery } from './queries.ts';
import type { TracesSearch } from './search.ts';
import classes from './traces.module.css';

interface Props {
  search: TracesSearch;
  window: TimeWindow;
  onChange: (search: TracesSearch) => void;
}

/** A response names at most this many services of a trace. */
const MAX_SERVICES = 20;

export function TraceList({ search, window, onChange }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, isPlaceholderData, refetch } = useQuery(tracesQuery(api, organizationId, search, window));
  if (error) return <ErrorNotice error={error} title="Could not search traces" retry={() => refetch()} />;
  const {
    with: other,
    where: _where,
    lang: _lang,
    min: _min,
    max: _max,
    partStart: _start,
    partEnd: _end,
    ...rest
  } = search;
  const { with: _with, ...withoutOther } = search;
  const traces = data?.traces.filter(
    ({ services }) => other === undefined || services.includes(other) || services.length >= MAX_SERVICES,
  );
  const isFiltered = Object.keys(rest).length < Object.keys(search).length;
  return (
    <Panel flush>
      {other !== undefined && (
        <div className={classes.with}>
          <Text size="sm">
            Only traces that also have the service <b>{other}</b>: {formatNumber(traces?.length ?? 0)} of{' '}
            {plural(data?.traces.length ?? 0, 'trace')} that the search returned.
          </Text>
          <Button size="compact-sm" variant="default" onClick={() => onChange(withoutOther)}>
            Show all
          </Button>
        </div>
      )}
      {traces?.length === 0 ? (
        <EmptyState
          title="No traces"
          action={
            isFiltered && (
              <Button variant="default" onClick={() => onChange(rest)}>
                Remove all conditions
              </Button>
            )
          }
        >
          {isFiltered
            ? 'No span in this time range matches the conditions. Widen the range, or remove conditions.'
            : 'No spans were received in this time range. Widen the range, or send spans: see Telemetry.'}
        </EmptyState>
      ) : (
        <div className={classes.list} aria-busy={isPlaceholderData}>
          <DataTable
            label="Traces"
            columns={createColumns(search.source, Math.max(1, ...(traces ?? []).map(({ durationNs }) => durationNs)))}
            rows={traces}
            rowKey={({ traceId }) => traceId}
            loadingRows={8}
          />
        </div>
      )}
      {data?.truncated && (
        <Text size="sm" c="dimmed" className={classes.note}>
          More traces match: these are the {search.order === 'slowest' ? 'slowest' : 'newest'}{' '}
          {formatNumber(data.traces.length)}.
        </Text>
      )}
    </Panel>
  );
}

const createColumns = (source: string | undefined, longestNs: number): Column<FoundTrace>[] => [
  {
    header: 'Trace',
    width: '30%',
    cell: ({ traceId, service, name, hasRoot, start }) => (
      <>
        <Link
          to="/traces/$traceId"
          params={{ traceId }}
          search={source ? { source } : {}}
          className={`ph-link ${classes.trace}`}
          title={traceId}
        >
          {service}: {name}
        </Link>
        {!hasRoot && (
          <Text size="xs" c="dimmed">
            No root: named after its longest span
          </Text>
        )}
        <Text size="xs" c="dimmed" className={classes.onPhone}>
          <Timestamp at={start} />
        </Text>
      </>
    ),
  },
  {
    header: 'Duration',
    align: 'right',
    sortBy: ({ durationNs }) => durationNs,
    cell: ({ durationNs }) => (
      <>
        <span className="ph-fixed">{formatNs(durationNs)}</span>
        <span className={classes.share} style={{ width: `${(durationNs / longestNs) * 100}%` }} />
      </>
    ),
  },
  {
    header: 'Slowest match',
    align: 'right',
    from: 'md',
    sortBy: ({ matchedDurationNs }) => matchedDurationNs,
    cell: ({ matchedDurationNs, matchedSpans }) => (
      <>
        <span className="ph-fixed">{formatNs(matchedDurationNs)}</span>
        <Text size="xs" c="dimmed">
          {plural(matchedSpans, 'span matches', 'spans match')}
        </Text>
      </>
    ),
  },
  {
    header: 'Spans',
    align: 'right',
    from: 'sm',
    sortBy: ({ spans }) => spans,
    cell: ({ spans, errors }) => (
      <>
        {formatNumber(spans)}
        {errors > 0 && (
          <Text size="xs" className={classes.bad}>
            {plural(errors, 'error')}
          </Text>
        )}
      </>
    ),
  },
  {
    header: 'Services',
    width: '22%',
    from: 'sm',
    cell: ({ services }) => (
      <span className={classes.services}>
        {services.join(', ')}
        {services.length >= MAX_SERVICES && ' and possibly more'}
      </span>
    ),
  },
  {
    header: 'Start',
    align: 'right',
    from: 'sm',
    sortBy: ({ start }) => start,
    cell: ({ start }) => (
      <span className="ph-fixed">
        <Timestamp at={start} />
      </span>
    ),
  },
];
