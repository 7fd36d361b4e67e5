import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { type ClickHouseServer, getWriterUrl, PASSWORDS, startClickHouseServer } from '../support/clickhouse-server.ts';
import { createClient } from '../support/client.ts';
import { openEventStream } from '../support/event-stream.ts';
import { acme } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken } from '../support/ingest.ts';
import { send } from '../support/otlp-client.ts';
import { toNanos, toRequest } from '../support/otlp-requests.ts';
import { START_LIMIT_MS } from '../support/server.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** What the nodes think about the time, and how late or early their senders are. */
const SKEWS_MS = [3 * HOUR_MS, -3 * HOUR_MS];
const DELAYS_MS = [0, -MINUTE_MS, -10 * MINUTE_MS, -26 * HOUR_MS, 2 * MINUTE_MS];
const BATCHES_PER_DELAY = 8;
const ROWS_PER_BATCH = 5;
const TIMEOUT = { timeout: 120_000 };

interface Node {
  server: InProcessServer;
  token: string;
}

type Stream = Awaited<ReturnType<typeof openEventStream>>;

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-tail-'));
let clickHouse: ClickHouseServer;
const nodes: Node[] = [];
const open: Stream[] = [];

beforeAll(async () => {
  clickHouse = await startClickHouseServer(directory);
  for (const skewMs of SKEWS_MS) {
    const flags = { telemetry: 'off', otlpPort: '0', clickhouseUrl: getWriterUrl(clickHouse) };
    const clock = { ...systemClock, now: () => systemClock.now() + skewMs };
    const server = await openInProcessServer(flags, { clock });
    nodes.push({ server, token: await createIngestToken(server.url, acme) });
  }
}, START_LIMIT_MS);

afterEach(async () => {
  for (const stream of open.splice(0)) await stream.close();
});

afterAll(async () => {
  for (const { server } of nodes) await server.remove();
  await clickHouse?.close();
  rmSync(directory, { recursive: true, force: true });
}, START_LIMIT_MS);

async function tail({ server }: Node, where: string, sourceId = 'logs'): Promise<Stream> {
  const headers = { authorization: `Bearer ${acme.token}` };
  const body = { sourceId, select: 'Body', where };
  const stream = await openEventStream(`${server.url}/api/v2/search/tail`, headers, body);
  expect(stream.response.status).toBe(200);
  open.push(stream);
  return stream;
}

async function sendLogs({ server, token }: Node, bodies: readonly string[], at: number): Promise<void> {
  const records = bodies.map((stringValue, index) => ({ timeUnixNano: toNanos(at + index), body: { stringValue } }));
  const target = { url: server.otlpUrl ?? '', authorization: `Bearer ${token}` };
  expect((await send(target, 'logs', toRequest('logs', records))).status).toBe(200);
}

const number = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const listBodies = (stream: Stream): string[] => stream.listRows().map(({ Body }) => Body);
const countSkipped = (stream: Stream): number =>
  stream.events.filter(({ type }) => type === 'skipped').reduce((sum, { data }) => sum + data.count, 0);
const untilAll = (stream: Stream, count: number) =>
  until(
    async () => listBodies(stream).length + countSkipped(stream),
    (seen) => seen >= count,
    'rows are neither shown nor counted',
  );

it(
  'each row is sent once, whatever its time, the clock of its node and the length of its insert',
  TIMEOUT,
  async () => {
    const wanted = await Promise.all(nodes.map((node) => tail(node, 'wanted')));
    const sent: string[] = [];
    const write = async (node: Node, delayMs: number, name: string) => {
      for (const batch of number(BATCHES_PER_DELAY)) {
        const bodies = number(ROWS_PER_BATCH).map((row) => `wanted ${name} ${batch} ${row}`);
        sent.push(...bodies);
        await sendLogs(node, bodies, systemClock.now() + delayMs);
        await delay(100);
      }
    };
    // Large inserts take longer, so that smaller ones overtake them.
    const writeLarge = async (node: Node, name: string) => {
      for (const batch of number(4)) {
        const bodies = number(4000).map((row) =>
          row % 800 === 0 ? `wanted large ${name} ${batch} ${row}` : `other ${row}`,
        );
        sent.push(...bodies.filter((body) => body.startsWith('wanted')));
        await sendLogs(node, bodies, systemClock.now());
      }
    };
    await Promise.all(
      nodes.flatMap((node, index) => [
        writeLarge(node, `${index}`),
        ...DELAYS_MS.map((delayMs) => write(node, SKEWS_MS[index] ?? 0, `${index} ${delayMs}`)),
        ...DELAYS_MS.map((delayMs) => write(node, delayMs, `true ${index} ${delayMs}`)),
      ]),
    );
    for (const stream of wanted) {
      await untilAll(stream, sent.length);
      const received = listBodies(stream);
      expect(received.length + countSkipped(stream)).toBe(sent.length);
      expect(new Set(received).size, 'no row is repeated').toBe(received.length);
      expect(received.filter((body) => !sent.includes(body))).toEqual([]);
    }
  },
);

it('late rows are shown beside many newer ones, and the others are counted', TIMEOUT, async () => {
  const [first, second] = nodes as [Node, Node];
  const stream = await tail(first, 'mixed');
  const late = await tail(first, 'mixed late');
  const now = systemClock.now();
  for (const round of number(8)) {
    await Promise.all([
      sendLogs(
        first,
        number(50).map((row) => `mixed new ${round} ${row}`),
        now + 1000 * round,
      ),
      sendLogs(
        second,
        number(2).map((row) => `mixed late ${round} ${row}`),
        now - MINUTE_MS,
      ),
    ]);
    await delay(200);
  }
  await untilAll(stream, 8 * 52);
  expect(listBodies(stream).length + countSkipped(stream)).toBe(8 * 52);
  await untilAll(late, 8 * 2);
  expect([new Set(listBodies(late)).size, countSkipped(late)]).toEqual([8 * 2, 0]);
});

it('equal rows are all sent', TIMEOUT, async () => {
  const [first] = nodes as [Node];
  const stream = await tail(first, 'equal');
  const at = systemClock.now();
  await first.server.engine.insert(
    'otel_logs',
    number(3).map(() => ({ OrganizationId: acme.id, Timestamp: new Date(at).toISOString(), Body: 'equal' })),
  );
  await untilAll(stream, 3);
  expect(listBodies(stream)).toEqual(['equal', 'equal', 'equal']);
});

it('what a client is not shown is counted exactly', TIMEOUT, async () => {
  const [first, second] = nodes as [Node, Node];
  const stream = await tail(second, 'flood');
  const rounds = number(6);
  for (const round of rounds)
    await sendLogs(
      round % 2 === 0 ? first : second,
      number(700).map((row) => `flood ${round} ${row}`),
      systemClock.now(),
    );
  await untilAll(stream, rounds.length * 700);
  expect(listBodies(stream).length + countSkipped(stream)).toBe(rounds.length * 700);
  expect(new Set(listBodies(stream)).size).toBe(listBodies(stream).length);
});

const TABLES = [
  // Its rows are read by their time: the clock of the node is three hours ahead.
  { name: 'plain_logs', settings: 'index_granularity = 8192', lateSeconds: 60, events: ['notice', 'rows', 'rows'] },
  { name: 'numbered_logs', settings: 'enable_block_number_column = 1', lateSeconds: 90_000, events: ['rows', 'rows'] },
];

it.each(TABLES)('a table of users is read by arrival if it keeps it: $name', TIMEOUT, async (table) => {
  const { name, settings, lateSeconds, events } = table;
  const [first] = nodes as [Node];
  const authorization = `Basic ${Buffer.from(`writer:${PASSWORDS.writer}`).toString('base64')}`;
  const run = async (sql: string) => {
    const url = `http://127.0.0.1:${clickHouse.port}/`;
    const response = await fetch(url, { method: 'POST', headers: { authorization }, body: sql });
    expect(response.status, await response.text()).toBe(200);
  };
  await run(
    `CREATE TABLE pilothouse.${name} AS pilothouse.otel_logs ENGINE = MergeTree ORDER BY Timestamp SETTINGS ${settings}`,
  );
  const call = createClient(() => ({ url: first.server.url, dashboardUrl: first.server.url }));
  const body = { name, kind: 'log', from: { tableName: name } };
  const { status, json, text } = await call({ method: 'POST', path: '/api/v2/sources', token: acme.writer, body });
  expect(status, text).toBe(200);
  const stream = await tail(first, 'plain', json.data.id);
  const insert = (row: string, secondsAgo: number) =>
    run(
      `INSERT INTO pilothouse.${name} (OrganizationId, Timestamp, Body) VALUES ('${acme.id}', now64(9) + INTERVAL ${3 * 3600 - secondsAgo} SECOND, '${row}')`,
    );
  await insert('plain one', 1);
  await untilAll(stream, 1);
  await insert('plain late', lateSeconds);
  await untilAll(stream, 2);
  expect(listBodies(stream)).toEqual(['plain one', 'plain late']);
  expect(stream.events.map(({ type }) => type)).toEqual(events);
});
