import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SIGNALS, type Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import { createRandom } from '../../src/operations/demo/telemetry/random.ts';
import { OWN_DATABASE } from '../../src/platform/engine/engine.ts';
import { acme } from '../support/fleet.ts';
import { withEngine } from '../support/in-process-server.ts';
import { createIngestToken } from '../support/ingest.ts';
import { isLongRun, ROUNDS, SEED } from '../support/long-run.ts';
import { sendBytes } from '../support/otlp-client.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { logRecord, numberPoint, span, text, toRequest } from '../support/otlp-requests.ts';
import { listChildren, sendSignal } from '../support/processes.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until, untilReady } from '../support/until.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SENDERS_PER_SIGNAL = 3;
const RECORDS = 20;
const MAX_BATCHES_PER_ROUND = 40;
const TABLES = {
  logs: ['otel_logs', 'LogAttributes'],
  traces: ['otel_traces', 'SpanAttributes'],
  metrics: ['otel_metrics_gauge', 'Attributes'],
} as const;

/** A request, and how often it was sent. As SDKs do, a sender repeats it until it is acknowledged. */
interface Batch {
  id: string;
  signal: Signal;
  attempts: number;
  isAcknowledged: boolean;
}

/** Records of two days: an insert creates a part for each, and a kill may happen between them. */
function encodeBatch({ id, signal }: Batch): Buffer {
  const now = Date.now();
  const records = Array.from({ length: RECORDS }, (_, index) => {
    const time = now - (index % 2) * DAY_MS;
    const attributes = [text('batch', id), text('item', String(index))];
    if (signal === 'logs') return logRecord(time, { attributes });
    if (signal === 'traces') return span(time, { attributes });
    return { name: 'item', gauge: { dataPoints: [numberPoint(time, { attributes })] } };
  });
  return encodeRequest(signal, toRequest(signal, records));
}

/** Sends batches one after the other until `stop` is called. */
function startSenders(server: TestServer, authorization: string, batches: Batch[]) {
  let isStopped = false;

  async function sendUntilAcknowledged(batch: Batch): Promise<void> {
    const body = encodeBatch(batch);
    while (!(batch.isAcknowledged || isStopped)) {
      batch.attempts++;
      try {
        const { status, json } = await sendBytes({ url: `${server.url}/otlp`, authorization }, batch.signal, body);
        if (status === 200) {
          expect(json).toEqual({});
          batch.isAcknowledged = true;
          return;
        }
        expect([status, json]).toEqual([503, { code: 14, message: expect.any(String) }]);
      } catch (error) {
        // fetch throws a TypeError if the connection is gone.
        if (!(error instanceof TypeError)) throw error;
        if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED') batch.attempts--;
      }
      await delay(20);
    }
  }

  const running = SIGNALS.flatMap((signal) => Array.from({ length: SENDERS_PER_SIGNAL }, () => signal)).map(
    async (signal) => {
      while (!isStopped) {
        const batch: Batch = { id: `batch ${batches.length}`, signal, attempts: 0, isAcknowledged: false };
        batches.push(batch);
        await sendUntilAcknowledged(batch);
      }
    },
  );
  return {
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

const countAcknowledged = (batches: readonly Batch[]): number => batches.filter((batch) => batch.isAcknowledged).length;

describe(`kill -9 while telemetry is received, seed ${SEED}`, () => {
  it('keeps every acknowledged record exactly once, or as often as the client sent it', {
    timeout: 10 * MINUTE_MS + ROUNDS * MINUTE_MS,
  }, async () => {
    const random = createRandom(SEED);
    const server = await startServer('libsql', { args: ['--telemetry', 'off'] });
    const batches: Batch[] = [];
    try {
      const token = await createIngestToken(server.url, acme);
      for (let round = 0; round < (isLongRun ? ROUNDS : 2); round++) {
        const victim = isLongRun ? random.pick(['server', 'engine']) : ['server', 'engine'][round];
        const senders = startSenders(server, token, batches);
        // After a number of batches instead of a time: on a loaded machine, the first one may take long.
        const target = countAcknowledged(batches) + random.whole(1, MAX_BATCHES_PER_ROUND);
        const reach = (count: number) =>
          until(
            async () => countAcknowledged(batches),
            (acknowledged) => acknowledged >= count,
            `round ${round}: nothing is acknowledged`,
          );
        await reach(target);
        if (victim === 'server') {
          expect(await server.stop('SIGKILL')).toBe(null);
          await server.restart();
        } else for (const pid of listChildren(server.pid)) sendSignal(pid, 'SIGKILL');
        // The senders go on, as those of other processes would.
        await reach(countAcknowledged(batches) + 1);
        await senders.stop();
        await untilReady(server, 200);
      }
      await server.stop();
      await expectStored(server, batches);
    } finally {
      await server.remove();
    }
  });
});

/** How often the records of a batch are stored. */
interface Stored {
  items: number;
  least: number;
  most: number;
}

async function expectStored(server: TestServer, batches: readonly Batch[]): Promise<void> {
  const stored = new Map<string, Stored>();
  await withEngine(join(server.directory, 'data'), async (engine) => {
    for (const [table, attributes] of Object.values(TABLES)) {
      const rows = await engine.query({
        sql: `SELECT batch, count(), min(copies), max(copies) FROM (
          SELECT ${attributes}['batch'] AS batch, ${attributes}['item'] AS item, count() AS copies
          FROM ${OWN_DATABASE}.${table} WHERE OrganizationId = {id:String} GROUP BY batch, item
        ) GROUP BY batch`,
        parameters: { id: acme.id },
      });
      for (const [batch, items, least, most] of rows)
        stored.set(String(batch), { items: Number(items), least: Number(least), most: Number(most) });
    }
  });
  const wrong = batches.filter(({ id, attempts, isAcknowledged }) => {
    const { items, least, most } = stored.get(id) ?? { items: 0, least: 0, most: 0 };
    if (most > attempts) return true;
    return isAcknowledged && (items !== RECORDS || least < 1);
  });
  expect(wrong.map((batch) => ({ ...batch, ...stored.get(batch.id) }))).toEqual([]);
  expect(countAcknowledged(batches)).toBeGreaterThan(0);
}
