import { Link } from '@tanstack/react-router';
import type { ListSourcesResult } from '../../api/generated.ts';

interface Props {
  traceId: string;
  /** ID of the source of its spans. Default: traces. */
  source?: string | undefined;
  /** ID of the source of its logs. Default: that of the source. */
  logSource?: string | undefined;
  /** Selects the span. */
  span?: string | undefined;
  children?: string;
}

/** The page accepts nothing else. */
const TRACE_ID = /^[0-9a-f]{32}$/i;
const NO_ID = /^0{32}$/;

export const isTraceId = (value: unknown): value is string =>
  typeof value === 'string' && TRACE_ID.test(value) && !NO_ID.test(value);

/** Leads to the waterfall; text that is no trace id stays text. */
export function TraceLink({ traceId, source, logSource, span, children = traceId }: Props) {
  if (!isTraceId(traceId)) return children;
  return (
    <Link
      to="/traces/$traceId"
      params={{ traceId: traceId.toLowerCase() }}
      search={{ ...(source ? { source } : {}), ...(logSource ? { logSource } : {}), ...(span ? { span } : {}) }}
      style={{ color: 'var(--mantine-color-anchor)', overflowWrap: 'anywhere' }}
      // The surrounding row may have an action of its own.
      onClick={(event) => event.stopPropagation()}
    >
      {children}
    </Link>
  );
}

/** Where to find the trace of a row of this source. */
export function findTraceSources(
  sources: readonly ListSourcesResult[number][],
  sourceId: string,
): { source?: string; logSource?: string } {
  const given = sources.find(({ id }) => id === sourceId);
  if (given?.kind === 'trace') return { source: sourceId };
  if (given?.kind !== 'log') return {};
  const linked = sources.find(({ kind, logSourceId }) => kind === 'trace' && logSourceId === sourceId)?.id;
  const source = given.traceSourceId || linked;
  return { ...(source ? { source } : {}), ...(source === linked && linked ? {} : { logSource: sourceId }) };
}
