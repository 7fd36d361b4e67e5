import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import { ApiError, formatError } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { CopyIconButton } from '../../parts/forms/copy-button.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { formatExactNs } from './durations.ts';
import { traceQuery } from './queries.ts';
import { SourceSelect } from './source-select.tsx';
import type { Trace } from './trace-tree.ts';
import { TraceView } from './trace-view.tsx';

const route = getRouteApi('/signed-in/traces/$traceId');

/** One trace as a waterfall. */
export function TracePage() {
  const api = useApi();
  const { organizationId } = useSession();
  const { traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(traceQuery(api, organizationId, traceId, search));
  const onSelect = useCallback(
    (span: string | undefined) =>
      void navigate({
        search: ({ span: _span, ...rest }) => (span === undefined ? rest : { ...rest, span }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const select = (
    <SourceSelect value={search.source} onChange={(source) => void navigate({ search: source ? { source } : {} })} />
  );
  if (error instanceof ApiError && error.status === 404)
    return (
      <Page title="Trace" actions={select}>
        <EmptyState
          title="No trace with this ID"
          action={<Button renderRoot={(props) => <Link to="/traces" {...props} />}>All traces</Button>}
        >
          {formatError(error)} It may be in another source, or older than the retention. New spans appear within a few
          seconds.
        </EmptyState>
      </Page>
    );
  if (error)
    return (
      <Page title="Trace" actions={select}>
        <ErrorNotice error={error} title="Could not load the trace" retry={() => refetch()} />
      </Page>
    );
  if (!data)
    return (
      <Page title="Trace">
        <Skeleton height={400} />
      </Page>
    );
  return (
    <div data-wide="true">
      <Page
        title={nameTrace(data)}
        subtitle={<Facts trace={data} />}
        actions={
          <>
            {select}
            <LogsLink trace={data} />
          </>
        }
      >
        <TraceView key={`${data.traceId} ${data.sourceId}`} trace={data} span={search.span} onSelect={onSelect} />
      </Page>
    </div>
  );
}

/** The root, or the first span. */
function nameTrace({ spans }: Trace): string {
  const first = spans.find(({ parentSpanId }) => parentSpanId === '') ?? spans[0];
  return first ? `${first.service}: ${first.name}` : 'Trace without spans';
}

function Facts({ trace }: { trace: Trace }) {
  const { traceId, start, durationNs, totalSpans, services, totalLogs, spans } = trace;
  const errors = spans.filter(({ isError }) => isError).length;
  return (
    <>
      {formatExactNs(durationNs)} · <Timestamp at={start} /> · {plural(totalSpans, 'span')} of{' '}
      {plural(services.length, 'service')}
      {errors > 0 && `, ${plural(errors, 'error')}`} · {plural(totalLogs, 'log')} · {traceId}{' '}
      <CopyIconButton value={traceId} label="Copy trace ID" />
    </>
  );
}

/** Of the search, before and after the trace. */
const MARGIN_MS = 15 * 60_000;

function LogsLink({ trace }: { trace: Trace }) {
  return (
    <Button
      variant="default"
      renderRoot={(props) => (
        <Link
          to="/search"
          search={{
            source: trace.logSourceId,
            where: `TraceId:"${trace.traceId}"`,
            from: Date.parse(trace.start) - MARGIN_MS,
            to: Date.parse(trace.end) + MARGIN_MS,
          }}
          {...props}
        />
      )}
    >
      Search its logs
    </Button>
  );
}
