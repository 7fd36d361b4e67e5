import type { Engine } from '../engine/engine.ts';
import { type Clock, SECOND_MS } from '../kernel/clock.ts';
import { newUuid } from '../kernel/ids.ts';
import { openProcessMetrics } from './process-metrics.ts';
import { type CompletedRequest, createRequestLines, SERVICE_NAME } from './request-lines.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { createRing } from './ring.ts';
import { type Attributes, createTelemetryRows, TABLE_KINDS, TABLES } from './rows.ts';

const TICK_MS = 2 * SECOND_MS;
/** In one write, each a row in two tables. One write a tick: of more requests than this, some are left out. */
const REQUESTS_PER_WRITE = 500;
const METRICS_EVERY_MS = 15 * SECOND_MS;
const BUFFERED_REQUESTS = 10_000;
const ROWS_PER_REQUEST = 2;
/** How long stopping waits for the last rows. */
const LAST_WRITE_MS = 3 * SECOND_MS;

/** Why rows were not written: pushed out by newer ones, too many to write them all, refused by the engine, at the end. */
export type DropReason = 'full' | 'sampled' | 'failed' | 'stopped' | 'series';

export interface TelemetryCounts {
  written: number;
  dropped: Record<DropReason, number>;
}

export type SelfTelemetry = ReturnType<typeof openSelfTelemetry>;

interface Options {
  engine: Pick<Engine, 'kind' | 'insert' | 'insertLines' | 'isRunning' | 'start'>;
  clock: Clock;
  log: { warn(details: object, message: string): void };
  version: string;
  /** Whose dashboards show what belongs to nobody: strangers, the store, the process. Empty: nobody's. */
  operatorId: string;
  bufferedRequests?: number;
}

/**
 * Writes what the server does into the engine, as OpenTelemetry would. It never waits, never starts an engine of ours,
 * and drops rather than grows; what is dropped is counted. Must be closed.
 */
export function openSelfTelemetry({
  engine,
  clock,
  log,
  version,
  operatorId,
  bufferedRequests = BUFFERED_REQUESTS,
}: Options) {
  const startMs = clock.now();
  const resource: Attributes = {
    'service.name': SERVICE_NAME,
    'service.version': version,
    'service.instance.id': newUuid(),
  };
  const ring = createRing<CompletedRequest>(bufferedRequests);
  const formatLines = createRequestLines(resource);
  const requests = createRequestMetrics({ resource, startMs });
  const processes = openProcessMetrics({ organizationId: operatorId, resource, startMs });
  const counts: TelemetryCounts = { written: 0, dropped: { full: 0, sampled: 0, failed: 0, stopped: 0, series: 0 } };
  let seen = 0;
  /** Where more requests come than are written, one in so many is. */
  let oneIn = 1;
  let metricsDueMs = startMs + METRICS_EVERY_MS;
  let writing: Promise<void> | undefined;
  let isFailing = false;

  /** On the path of every request: counts, and keeps the object it was given. Everything else waits for a tick. */
  function request(answered: CompletedRequest): void {
    if (!requests.request(answered, answered.organizationId ?? operatorId)) counts.dropped.series++;
    seen++;
    const isFailure = answered.status >= 500;
    if (oneIn > 1 && !isFailure && seen % oneIn !== 0) {
      counts.dropped.sampled += ROWS_PER_REQUEST;
      return;
    }
    if (ring.push(answered, clock.now(), isFailure ? 1 : oneIn)) counts.dropped.full += ROWS_PER_REQUEST;
  }

  function tick(): void {
    oneIn = Math.max(1, Math.ceil(seen / REQUESTS_PER_WRITE));
    seen = 0;
    if (writing || !isReachable()) return;
    const areMetricsDue = clock.now() >= metricsDueMs;
    if (areMetricsDue || ring.length > 0) writeInBackground(areMetricsDue);
  }

  /** An engine of our own starts when somebody asks it something; a server is there already. */
  function isReachable(): boolean {
    if (engine.isRunning()) return true;
    if (engine.kind === 'server' && clock.now() >= metricsDueMs) {
      metricsDueMs = clock.now() + METRICS_EVERY_MS;
      engine.start().catch(reportFailure);
    }
    return false;
  }

  function writeInBackground(withMetrics: boolean): void {
    writing = write(withMetrics).finally(() => {
      writing = undefined;
    });
  }

  async function write(withMetrics: boolean): Promise<void> {
    await Promise.all([...writeRequests(), ...(withMetrics ? writeMetrics() : [])]);
  }

  function writeRequests(): Promise<void>[] {
    const rows = Math.min(REQUESTS_PER_WRITE, ring.length);
    if (rows === 0) return [];
    let [logs, spans] = ['', ''];
    ring.take(rows, (answered, endMs, weight) => {
      const { log: line, span } = formatLines(answered, endMs, answered.organizationId ?? operatorId, weight);
      logs += line;
      spans += span;
    });
    return [
      counted(rows, engine.insertLines(TABLES.logs, Buffer.from(logs))),
      counted(rows, engine.insertLines(TABLES.traces, Buffer.from(spans))),
    ];
  }

  function writeMetrics(): Promise<void>[] {
    const now = clock.now();
    metricsDueMs = now + METRICS_EVERY_MS;
    const batch = createTelemetryRows();
    requests.collect(batch, now);
    processes.collect(batch, now);
    return TABLE_KINDS.map((kind) => counted(batch[kind].length, engine.insert(TABLES[kind], batch[kind])));
  }

  async function counted(rows: number, inserted: Promise<void>): Promise<void> {
    try {
      await inserted;
      counts.written += rows;
      if (rows > 0) isFailing = false;
    } catch (error) {
      counts.dropped.failed += rows;
      reportFailure(error);
    }
  }

  /** Once for each outage, not for every write. */
  function reportFailure(error: unknown): void {
    if (!isFailing) log.warn({ err: error }, 'telemetry could not be written');
    isFailing = true;
  }

  async function writeRemaining(): Promise<void> {
    await writing;
    isFailing = false;
    let withMetrics = true;
    while (engine.isRunning() && !isFailing && (withMetrics || ring.length > 0)) {
      await write(withMetrics);
      withMetrics = false;
    }
  }

  const timer = setInterval(tick, TICK_MS).unref();

  return {
    request,
    store: processes.store,
    counts: (): TelemetryCounts => counts,
    /** Writes what is left if the engine runs, and gives up after a few seconds. */
    async close(): Promise<void> {
      clearInterval(timer);
      processes.close();
      let giveUp: NodeJS.Timeout | undefined;
      const tooLate = new Promise<void>((resolve) => {
        giveUp = setTimeout(resolve, LAST_WRITE_MS);
      });
      await Promise.race([writeRemaining(), tooLate]);
      clearTimeout(giveUp);
      counts.dropped.stopped += ring.length * ROWS_PER_REQUEST;
    },
  };
}
