import { yieldToEventLoop } from '../../kernel/tasks/event-loop.ts';
import { formatNanos } from '../search/nanos.ts';
import { type CriticalSegment, findCriticalPath } from './critical-path.ts';
import type { LogRecord, SpanRecord, TraceRecord } from './schema.ts';
import { isErrorStatus } from './source-columns.ts';
import { buildTree, computeSelfTimes, getEnd } from './span-tree.ts';

/** Clocks of well synchronized machines differ by less. */
const TOLERATED_SKEW_NS = 1_000_000;

/** Rows in the order of `trace-rows.ts`, earliest first, and what was stored. */
interface StoredTrace {
  traceId: string;
  sourceId: string;
  logSourceId: string;
  spanRows: readonly unknown[][];
  logRows: readonly unknown[][];
  totalSpans: number;
  totalLogs: number;
}

/** The trace with what follows from its structure. Pauses, so that a large trace does not occupy the event loop. */
export async function assembleTrace({ spanRows, logRows, ...stored }: StoredTrace): Promise<TraceRecord> {
  const origin = BigInt(String((spanRows[0] ?? logRows[0])?.[0] ?? 0));
  const spans = await convertRows(spanRows, (row) => toSpan(row, origin));
  const logs = await convertRows(logRows, (row) => toLog(row, origin));
  const tree = buildTree(spans);
  await yieldToEventLoop();
  const path = findCriticalPath(spans, tree);
  await yieldToEventLoop();
  const selfTimes = computeSelfTimes(spans, tree);
  for (const [index, span] of spans.entries()) {
    const parent = tree.parents[index] ?? -1;
    if (parent >= 0) span.parentIndex = parent;
    span.isOrphan = tree.isOrphan(index);
    span.hasClockSkew = isOutside(span, spans[parent]);
    span.selfTimeNs = selfTimes[index] ?? 0;
  }
  const criticalNs = addSegments(spans, path);
  const durationNs = (spans.length > 0 ? spans.map(getEnd) : logs.map(({ offsetNs }) => offsetNs)).reduce(
    (last, end) => Math.max(last, end),
    0,
  );
  return {
    traceId: stored.traceId,
    sourceId: stored.sourceId,
    logSourceId: stored.logSourceId,
    start: formatNanos(origin),
    end: formatNanos(origin + BigInt(durationNs)),
    durationNs,
    criticalNs,
    spans,
    logs,
    services: listServices(spans),
    totalSpans: stored.totalSpans,
    totalLogs: stored.totalLogs,
    truncated: spans.length < stored.totalSpans || logs.length < stored.totalLogs,
  };
}

type Attributes = Record<string, string>;

const ROWS_AT_ONCE = 1000;

async function convertRows<T>(rows: readonly unknown[][], convert: (row: unknown[]) => T): Promise<T[]> {
  const converted: T[] = [];
  for (const row of rows) {
    if (converted.length > 0 && converted.length % ROWS_AT_ONCE === 0) await yieldToEventLoop();
    converted.push(convert(row));
  }
  return converted;
}

function toSpan(row: unknown[], origin: bigint): SpanRecord {
  const [start, spanId, parentSpanId, name, durationNs, kind, service, status, statusMessage] = row as string[];
  const [attributes, resourceAttributes, scopeName, scopeVersion, eventTimes, eventNames, eventAttributes] =
    row.slice(9);
  const [linkTraceIds, linkSpanIds, linkTraceStates, linkAttributes] = row.slice(16) as string[][];
  return {
    spanId: spanId ?? '',
    parentSpanId: parentSpanId ?? '',
    name: name ?? '',
    kind: kind ?? '',
    service: service ?? '',
    start: String(start),
    offsetNs: offsetFrom(origin, start),
    durationNs: Number(durationNs),
    status: status ?? '',
    isError: isErrorStatus(status ?? ''),
    statusMessage: statusMessage ?? '',
    attributes: attributes as Attributes,
    resourceAttributes: resourceAttributes as Attributes,
    scope: { name: scopeName as string, version: scopeVersion as string },
    events: (eventTimes as unknown[]).map((time, index) => ({
      time: String(time),
      offsetNs: offsetFrom(origin, time),
      name: (eventNames as string[])[index] ?? '',
      attributes: (eventAttributes as Attributes[])[index] ?? {},
    })),
    links: (linkTraceIds ?? []).map((traceId, index) => ({
      traceId,
      spanId: linkSpanIds?.[index] ?? '',
      traceState: linkTraceStates?.[index] ?? '',
      attributes: (linkAttributes as unknown as Attributes[] | undefined)?.[index] ?? {},
    })),
    isOrphan: false,
    hasClockSkew: false,
    selfTimeNs: 0,
    isCritical: false,
    criticalNs: 0,
    criticalSegments: [],
  };
}

function toLog(row: unknown[], origin: bigint): LogRecord {
  const [time, spanId, service, severity, body, attributes, resourceAttributes] = row;
  return {
    time: String(time),
    offsetNs: offsetFrom(origin, time),
    spanId: spanId as string,
    service: service as string,
    severity: severity as string,
    body: body as string,
    attributes: attributes as Attributes,
    resourceAttributes: resourceAttributes as Attributes,
  };
}

const offsetFrom = (origin: bigint, time: unknown): number => Number(BigInt(String(time)) - origin);

/** A consumer may take a message long after it was sent. */
function isOutside(span: SpanRecord, parent: SpanRecord | undefined): boolean {
  if (!parent || parent.service === span.service) return false;
  if (span.offsetNs < parent.offsetNs - TOLERATED_SKEW_NS) return true;
  const isAsynchronous = /consumer$/i.test(span.kind) || /producer$/i.test(parent.kind);
  return !isAsynchronous && getEnd(span) > getEnd(parent) + TOLERATED_SKEW_NS;
}

/** Returns the length of the path. */
function addSegments(spans: SpanRecord[], path: readonly CriticalSegment[]): number {
  let length = 0;
  for (const { span: index, startNs, endNs } of path) {
    const span = spans[index] as SpanRecord;
    span.isCritical = true;
    span.criticalNs += endNs - startNs;
    span.criticalSegments.push({ startNs, endNs });
    length += endNs - startNs;
  }
  return length;
}

function listServices(spans: readonly SpanRecord[]): TraceRecord['services'] {
  const services = new Map<string, TraceRecord['services'][number]>();
  for (const { service: name, isError, selfTimeNs } of spans) {
    const service = services.get(name) ?? { name, spans: 0, errors: 0, selfTimeNs: 0 };
    service.spans++;
    service.selfTimeNs += selfTimeNs;
    if (isError) service.errors++;
    services.set(name, service);
  }
  return [...services.values()];
}
