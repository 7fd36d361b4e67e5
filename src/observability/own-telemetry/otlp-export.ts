import { setTimeout as delay } from 'node:timers/promises';
import { newUuid } from '../../kernel/ids.ts';
import type { CompletedRequest } from '../../kernel/metrics/request-series.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import { openMetricRows, type ReadMetrics } from './metric-rows.ts';
import { createOtlpBodies, type EndedRequest } from './otlp-rows.ts';
import { createOtlpSender } from './otlp-sender.ts';
import { createRing } from './ring.ts';

const SEND_EVERY_MS = 2 * SECOND_MS;
const METRICS_EVERY_MS = 15 * SECOND_MS;
const BUFFERED_REQUESTS = 10_000;
const REQUESTS_PER_BATCH = 500;
/** A span and a log record. */
const RECORDS_PER_REQUEST = 2;
const LAST_SEND_MS = 3 * SECOND_MS;

/**
 * Why records were not sent. `full`: newer requests replaced them in the buffer. `failed`: the collector could not be
 * reached. `rejected`: it did not accept them. `stopped`: left over at shutdown. `series`: too many metric series.
 */
type DropReason = 'full' | 'failed' | 'rejected' | 'stopped' | 'series';

interface ExportCounts {
  written: number;
  dropped: Record<DropReason, number>;
}

interface Options {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  version: string;
  metrics: ReadMetrics;
  clock: Clock;
  log: { warn(details: object, message: string): void };
}

/**
 * Sends the server's own requests and metrics to an OpenTelemetry collector, independent of the engine. No request waits
 * for it, and its buffer is bounded. Must be closed.
 */
export function openOtlpExport({ endpoint, headers, serviceName, version, metrics, clock, log }: Options) {
  const resource = {
    'service.name': serviceName,
    'service.version': version,
    'service.instance.id': newUuid(),
  };
  const bodies = createOtlpBodies(resource);
  const send = createOtlpSender({ endpoint, headers });
  const ring = createRing<CompletedRequest>(BUFFERED_REQUESTS);
  const metricRows = openMetricRows({ metrics, operatorId: '', resource, startMs: clock.now() });
  const counts: ExportCounts = { written: 0, dropped: { full: 0, failed: 0, rejected: 0, stopped: 0, series: 0 } };
  /** Ends repetitions. */
  const stopping = new AbortController();
  /** Ends requests, which would keep the process alive. */
  const ended = new AbortController();
  let metricsDueMs = clock.monotonicMs() + METRICS_EVERY_MS;
  let isFailing = false;

  /** Called on every request: it only retains the object. */
  function request(completed: CompletedRequest): void {
    if (ring.push(completed, clock.now(), 1)) counts.dropped.full += RECORDS_PER_REQUEST;
  }

  async function sendRecords(path: string, body: object, records: number): Promise<void> {
    const outcome = await send(path, body, { stopping: stopping.signal, ended: ended.signal });
    if (outcome.isSent) {
      counts.written += records;
      isFailing = false;
      return;
    }
    counts.dropped[outcome.reason] += records;
    // Once per outage. The headers are never part of the reason.
    if (!isFailing) log.warn({ reason: outcome.text }, 'failed to export telemetry');
    isFailing = true;
  }

  async function sendBatch(): Promise<void> {
    const batch: EndedRequest[] = [];
    ring.take(REQUESTS_PER_BATCH, (completed, endMs) => batch.push({ request: completed, endMs }));
    await Promise.all([
      sendRecords('/v1/traces', bodies.traces(batch), batch.length),
      sendRecords('/v1/logs', bodies.logs(batch), batch.length),
    ]);
  }

  async function sendMetrics(): Promise<void> {
    metricsDueMs = clock.monotonicMs() + METRICS_EVERY_MS;
    const rows = metricRows.collect(clock.now());
    const records = rows.gauge.length + rows.sum.length + rows.histogram.length;
    await sendRecords('/v1/metrics', bodies.metrics(rows), records);
  }

  async function sendDue(): Promise<void> {
    if (clock.monotonicMs() >= metricsDueMs) await sendMetrics();
    // What arrives while the batches are sent waits for the next pass.
    for (let left = ring.length; left > 0; left -= REQUESTS_PER_BATCH) await sendBatch();
  }

  const loop = createBackgroundLoop({
    run: sendDue,
    everyMs: SEND_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'failed to export telemetry'),
  });
  loop.startAfterPause();

  /** Without repetitions: a collector that cannot be reached does not delay the end of the process. */
  async function sendRemaining(): Promise<void> {
    stopping.abort();
    await loop.close();
    await sendMetrics();
    while (ring.length > 0 && !isFailing) await sendBatch();
  }

  return {
    request,
    counts: (): ExportCounts => ({
      ...counts,
      dropped: { ...counts.dropped, series: metricRows.countUnlisted() },
    }),
    /** Sends the remaining records, for at most a few seconds. */
    async close(): Promise<void> {
      await Promise.race([sendRemaining(), delay(LAST_SEND_MS, undefined, { ref: false })]);
      ended.abort();
      metricRows.close();
      counts.dropped.stopped += ring.length * RECORDS_PER_REQUEST;
    },
  };
}
