import { setTimeout as delay } from 'node:timers/promises';
import { newUuid } from '../../kernel/ids.ts';
import type { CompletedRequest } from '../../kernel/metrics/request-series.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import { openMetricRows, type ReadMetrics } from './metric-rows.ts';
import { createRequestLines, SERVICE_NAME } from './request-lines.ts';
import { createRing } from './ring.ts';
import { type Attributes, OWN_TABLES } from './rows.ts';

const WRITE_EVERY_MS = 2 * SECOND_MS;
/** Each request is a row in two tables. With more requests per write than this, requests are sampled. */
const REQUESTS_PER_WRITE = 500;
const METRICS_EVERY_MS = 15 * SECOND_MS;
const BUFFERED_REQUESTS = 10_000;
const ROWS_PER_REQUEST = 2;
/** How long `close` waits for the last rows. */
const LAST_WRITE_MS = 3 * SECOND_MS;
const OWN_METRICS = ['gauge', 'sum', 'histogram'] as const;

/**
 * Why rows were not written. `full`: overwritten by newer requests. `sampled`: too many requests. `failed`: rejected by the
 * engine. `stopped`: left over at shutdown. `series`: too many metric series.
 */
type DropReason = 'full' | 'sampled' | 'failed' | 'stopped' | 'series';

interface TelemetryCounts {
  written: number;
  dropped: Record<DropReason, number>;
}

interface Options {
  engine: Pick<Engine, 'kind' | 'insert' | 'insertLines' | 'isRunning' | 'start'>;
  clock: Clock;
  log: { warn(details: object, message: string): void };
  version: string;
  metrics: ReadMetrics;
  /** The organization that owns telemetry without one: unauthenticated requests, the store, the process. Empty for none. */
  operatorId: string;
  bufferedRequests?: number;
}

/**
 * Writes the server's own requests and metrics to the engine, in separate tables. It never blocks a request, never
 * starts the embedded engine, and drops and counts rows when its buffer is full. Must be closed.
 */
export function openSelfTelemetry({
  engine,
  clock,
  log,
  version,
  metrics,
  operatorId,
  bufferedRequests = BUFFERED_REQUESTS,
}: Options) {
  const resource: Attributes = {
    'service.name': SERVICE_NAME,
    'service.version': version,
    'service.instance.id': newUuid(),
  };
  const ring = createRing<CompletedRequest>(bufferedRequests);
  const formatLines = createRequestLines(resource);
  const metricRows = openMetricRows({ metrics, operatorId, resource, startMs: clock.now() });
  const counts: TelemetryCounts = { written: 0, dropped: { full: 0, sampled: 0, failed: 0, stopped: 0, series: 0 } };
  let requestsSincePass = 0;
  /** Sampling: one in this many requests is written. */
  let oneIn = 1;
  /** By the monotonic clock. */
  let metricsDueMs = clock.monotonicMs() + METRICS_EVERY_MS;
  let isFailing = false;

  /** Called on every request, so it only retains the object. The rest happens in the background. */
  function request(completed: CompletedRequest): void {
    requestsSincePass++;
    const isFailure = completed.status >= 500;
    if (oneIn > 1 && !isFailure && requestsSincePass % oneIn !== 0) {
      counts.dropped.sampled += ROWS_PER_REQUEST;
      return;
    }
    if (ring.push(completed, clock.now(), isFailure ? 1 : oneIn)) counts.dropped.full += ROWS_PER_REQUEST;
  }

  async function writeDue(): Promise<void> {
    oneIn = Math.max(1, Math.ceil(requestsSincePass / REQUESTS_PER_WRITE));
    requestsSincePass = 0;
    if (!isReachable()) return;
    const areMetricsDue = clock.monotonicMs() >= metricsDueMs;
    if (areMetricsDue || ring.length > 0) await write(areMetricsDue);
  }

  /** The embedded engine is started by queries only; an external server is connected to. */
  function isReachable(): boolean {
    if (engine.isRunning()) return true;
    if (engine.kind === 'server' && clock.monotonicMs() >= metricsDueMs) {
      metricsDueMs = clock.monotonicMs() + METRICS_EVERY_MS;
      engine.start().catch(reportFailure);
    }
    return false;
  }

  async function write(withMetrics: boolean): Promise<void> {
    await Promise.all([...writeRequests(), ...(withMetrics ? writeMetrics() : [])]);
  }

  function writeRequests(): Promise<void>[] {
    const rows = Math.min(REQUESTS_PER_WRITE, ring.length);
    if (rows === 0) return [];
    let [logs, spans] = ['', ''];
    ring.take(rows, (completed, endMs, weight) => {
      const { log: line, span } = formatLines(completed, endMs, completed.organizationId ?? operatorId, weight);
      logs += line;
      spans += span;
    });
    return [
      countRows(rows, engine.insertLines(OWN_TABLES.logs, Buffer.from(logs))),
      countRows(rows, engine.insertLines(OWN_TABLES.traces, Buffer.from(spans))),
    ];
  }

  function writeMetrics(): Promise<void>[] {
    metricsDueMs = clock.monotonicMs() + METRICS_EVERY_MS;
    const rows = metricRows.collect(clock.now());
    return OWN_METRICS.map((kind) => countRows(rows[kind].length, engine.insert(OWN_TABLES[kind], rows[kind])));
  }

  async function countRows(rows: number, inserted: Promise<void>): Promise<void> {
    try {
      await inserted;
      counts.written += rows;
      if (rows > 0) isFailing = false;
    } catch (error) {
      counts.dropped.failed += rows;
      reportFailure(error);
    }
  }

  /** Logs once per outage, not once per write. */
  function reportFailure(error: unknown): void {
    if (!isFailing) log.warn({ err: error }, 'failed to write telemetry');
    isFailing = true;
  }

  async function writeRemaining(): Promise<void> {
    await loop.close();
    isFailing = false;
    let withMetrics = true;
    while (engine.isRunning() && !isFailing && (withMetrics || ring.length > 0)) {
      await write(withMetrics);
      withMetrics = false;
    }
  }

  const loop = createBackgroundLoop({ run: writeDue, everyMs: WRITE_EVERY_MS, onError: reportFailure });
  loop.startAfterPause();

  return {
    request,
    counts: (): TelemetryCounts => ({
      ...counts,
      dropped: { ...counts.dropped, series: metricRows.countUnlisted() },
    }),
    /** Writes the remaining rows if the engine is running, for at most a few seconds. */
    async close(): Promise<void> {
      metricRows.close();
      await Promise.race([writeRemaining(), delay(LAST_WRITE_MS, undefined, { ref: false })]);
      counts.dropped.stopped += ring.length * ROWS_PER_REQUEST;
    },
  };
}
