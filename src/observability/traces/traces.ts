import { AppError } from '../../kernel/errors.ts';
import { DAY_MS } from '../../kernel/time/clock.ts';
import { queryError } from '../charts/queries/draft.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { STATEMENT_LIMITS, type TelemetryQueries } from '../charts/telemetry-queries.ts';
import { MAX_LOGS, MAX_SPANS, MAX_TRACE_BYTES } from './limits.ts';
import { planOperations } from './operations.ts';
import type { OperationsRecord, ServiceMapRecord, TraceRecord, TraceSearchRecord } from './schema.ts';
import { planEdges, planServices, toServiceMap } from './service-map.ts';
import { chooseSampling, planCount, type SpanQuery } from './span-query.ts';
import { assembleTrace } from './trace.ts';
import { planTraceRange, type TraceRange } from './trace-range.ts';
import { PAGE_ROWS, type Page, planTracePage } from './trace-rows.ts';
import { planCandidates, planSummaries, type TraceSearch } from './trace-search.ts';

/** The first row of a page is returned whatever its size. */
const PAGE_LIMITS = { ...STATEMENT_LIMITS, maxResultBytes: 32 * 2 ** 20 };

const DEFAULT_SOURCE = 'traces';
const DEFAULT_LOG_SOURCE = 'logs';

interface Part {
  kind: 'spans' | 'logs';
  path: string;
  resolved: ResolvedSource;
  range: TraceRange | undefined;
}

export type Traces = ReturnType<typeof createTraces>;

export function createTraces({ queries }: { queries: TelemetryQueries }) {
  async function resolve(
    client: QueryClient,
    kind: 'trace' | 'log',
    path: string,
    id: string,
  ): Promise<ResolvedSource> {
    const resolved = await queries.resolveSource(client.organizationId, { sourceId: id, dataSource: 'events' }, () =>
      queryError(path, `Unknown source ${id}`),
    );
    if (resolved.source.kind !== kind)
      throw queryError(path, `The source ${id} must be of kind ${kind}, not ${resolved.source.kind}`);
    return resolved;
  }

  const resolveSpans = (client: QueryClient, sourceId = DEFAULT_SOURCE) =>
    resolve(client, 'trace', 'sourceId', sourceId);

  async function findRange(
    client: QueryClient,
    traceId: string,
    part: Omit<Part, 'range'>,
    within?: Range,
  ): Promise<Part> {
    const { statement, collect } = planTraceRange(client, part.resolved, traceId, part.path, within);
    return { ...part, range: collect(await queries.query(statement, client)) };
  }

  /** The earliest rows up to the limits of their number and size. */
  async function readRows(
    client: QueryClient,
    traceId: string,
    { kind, path, resolved, range }: Part,
    max: number,
  ): Promise<unknown[][]> {
    if (!range) return [];
    const wanted = Math.min(range.count, max);
    const limitAt = (offset: number) => Math.min(PAGE_ROWS, wanted - offset);
    const readPage = async (offset: number): Promise<Page> => {
      const page = { kind, path, offset, limit: limitAt(offset) };
      const { statement, collect } = planTracePage(client, resolved, traceId, range, page);
      return collect(await queries.query(statement, client, PAGE_LIMITS));
    };
    const offsets = Array.from({ length: Math.ceil(wanted / PAGE_ROWS) }, (_, index) => index * PAGE_ROWS);
    const pages = await Promise.all(offsets.map(readPage));
    const firstCut = pages.findIndex(({ rows }, index) => rows.length < limitAt(index * PAGE_ROWS));
    const kept = firstCut < 0 ? pages : pages.slice(0, firstCut + 1);
    const found = kept.flatMap(({ rows }) => rows);
    let bytes = kept.reduce((sum, page) => sum + page.bytes, 0);
    // The rows are larger than usual: the next page starts where the last one ended.
    while (found.length < wanted && bytes < MAX_TRACE_BYTES) {
      const page = await readPage(found.length);
      if (page.rows.length === 0) break;
      found.push(...page.rows);
      bytes += page.bytes;
    }
    return found;
  }

  /** Counts the spans in the range, to decide how many traces are read. */
  async function prepare(client: QueryClient, query: SpanQuery) {
    const resolved = await resolveSpans(client, query.sourceId);
    const { statement, collect } = planCount(client, resolved, query);
    return { resolved, sampling: chooseSampling(collect(await queries.queryShared(statement, client))) };
  }

  return {
    /** The whole trace, whenever it happened, with its logs up to a day before and after its spans. */
    async get(
      client: QueryClient,
      traceId: string,
      { sourceId, logSourceId }: { sourceId?: string; logSourceId?: string },
    ): Promise<TraceRecord> {
      const spanSource = await resolveSpans(client, sourceId);
      const logId = logSourceId ?? spanSource.source.logSourceId ?? DEFAULT_LOG_SOURCE;
      const logSource = await resolve(client, 'log', 'logSourceId', logId);
      const spans = await findRange(client, traceId, { kind: 'spans', path: 'sourceId', resolved: spanSource });
      const around = spans.range && { startMs: spans.range.startMs - DAY_MS, endMs: spans.range.endMs + DAY_MS };
      const logPart = { kind: 'logs', path: 'logSourceId', resolved: logSource } as const;
      const logs = await findRange(client, traceId, logPart, around);
      if (!spans.range && !logs.range)
        throw new AppError(
          'not_found',
          `No span of the source ${spanSource.source.id} and no log of the source ${logId} has the trace id ${traceId}`,
        );
      const [spanRows, logRows] = await Promise.all([
        readRows(client, traceId, spans, MAX_SPANS),
        readRows(client, traceId, logs, MAX_LOGS),
      ]);
      return assembleTrace({
        traceId,
        sourceId: spanSource.source.id,
        logSourceId: logId,
        spanRows,
        logRows,
        totalSpans: spans.range?.count ?? 0,
        totalLogs: logs.range?.count ?? 0,
      });
    },

    /** The traces with a matching span. */
    async search(client: QueryClient, search: TraceSearch): Promise<TraceSearchRecord> {
      const resolved = await resolveSpans(client, search.sourceId);
      const candidates = planCandidates(client, resolved, search);
      const found = candidates.collect(await queries.query(candidates.statement, client));
      const summaries = planSummaries(client, resolved, found.traces);
      const rows = summaries ? await queries.query(summaries.statement, client) : [];
      return {
        start: search.startMs,
        end: search.endMs,
        traces: summaries?.collect(rows) ?? [],
        truncated: found.truncated,
      };
    },

    /** The operations that take the most time themselves. */
    async listOperations(client: QueryClient, query: SpanQuery & { limit?: number }): Promise<OperationsRecord> {
      const { resolved, sampling } = await prepare(client, query);
      const { statement, collect } = planOperations(client, resolved, query, sampling);
      const found = collect(await queries.queryShared(statement, client));
      return { start: query.startMs, end: query.endMs, sampling, ...found };
    },

    async getServiceMap(client: QueryClient, query: SpanQuery): Promise<ServiceMapRecord> {
      const { resolved, sampling } = await prepare(client, query);
      const services = planServices(client, resolved, query, sampling);
      const edges = planEdges(client, resolved, query, sampling);
      const [serviceRows, edgeRows] = await Promise.all([
        queries.queryShared(services.statement, client),
        queries.queryShared(edges.statement, client),
      ]);
      const map = toServiceMap(services.collect(serviceRows), edges.collect(edgeRows));
      return { start: query.startMs, end: query.endMs, sampling, ...map };
    },
  };
}
