// OpenTelemetry data over HTTP compared with inserts of the same rows directly into an engine.
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { openEngine } from './baseline-engine.mjs';
import { benchFleet, organizationId, serviceId } from './fleet.mjs';
import { createRequest, decodeObjects } from './otlp-messages.mjs';
import {
  authorization,
  base,
  directory,
  figureRow,
  formatThousands,
  median,
  ratioRow,
  residentMb,
  startServer,
} from './tools.mjs';

const RECORDS = 512;
const SENDERS = 16;
/** Of the baseline: large inserts, two at a time, which is what ClickHouse does best. */
const ROWS_PER_INSERT = 16 * RECORDS;
const REQUESTS_PER_ROUND = Number(process.env.BENCH_OTLP_REQUESTS ?? 400);
const ROUNDS = Number(process.env.BENCH_OTLP_ROUNDS ?? 5);
const SETTLE_MS = 4000;
const SAMPLING_MS = 10;
const INGEST_TOKEN = 'bench-ingest-token';

const CASES = [
  { signal: 'logs', format: 'protobuf', goal: 0.6, name: 'logs' },
  { signal: 'traces', format: 'protobuf', goal: 0.5, name: 'spans' },
  { signal: 'metrics', format: 'protobuf', goal: 0.5, name: 'data points of sums' },
  { signal: 'logs', format: 'json', goal: 0.35, name: 'logs as JSON' },
];

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Resolves with the milliseconds until the response. */
export function post(url, body, headers) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: 'POST', agent, headers: { 'content-length': body.length, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          response.statusCode === 200
            ? resolve(performance.now() - startedAt)
            : reject(new Error(`${response.statusCode} ${text}`)),
        );
      },
    );
    request.on('error', reject).end(body);
  });
}

/** Calls `send` for every item, `clients` at a time; returns the rows per second. */
export async function measureRate(items, clients, rowsPerItem, send) {
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < items.length) await send(items[next++]);
    }),
  );
  return (items.length * rowsPerItem) / ((performance.now() - startedAt) / 1000);
}

/** The server's own conversion, for the rows of the baseline. */
export async function convert(signal, format, bodies) {
  const worker = new Worker(join(import.meta.dirname, '../dist/otlp-transcoder.js'));
  const now = Date.now() * 1e6;
  const options = { organizationId, now, oldest: now - 86_400e9, newest: now + 86_400e9 };
  const rows = [];
  for (const [id, body] of bodies.entries()) {
    worker.postMessage({
      id,
      request: { signal, format, compression: undefined, body: Uint8Array.from(body) },
      options,
    });
    const { result } = await new Promise((resolve) => worker.once('message', resolve));
    rows.push(Buffer.from(result.rows[0].bytes));
  }
  await worker.terminate();
  return rows;
}

/** The order in which the server writes the columns of a row is part of its program. */
export function readColumns() {
  const list = (file, name) => {
    const text = readFileSync(join(import.meta.dirname, `../src/observability/ingest/wire/${file}.ts`), 'utf8');
    const [, members = ''] = new RegExp(`${name} = \\[([^\\]]*)\\]`).exec(text) ?? [];
    return [...members.matchAll(/'([^']+)'/g)].map(([, column]) => `\`${column}\``);
  };
  const origin = list('request', 'ORIGIN_COLUMNS');
  const ofSum = ['`Value`', '`AggregationTemporality`', '`IsMonotonic`'];
  return {
    logs: [...origin, ...list('logs', 'LOG_COLUMNS')],
    traces: list('spans', 'SPAN_COLUMNS'),
    metrics: [...origin, ...list('points', 'COMMON_COLUMNS'), ...ofSum, ...list('points', 'EXEMPLAR_COLUMNS')],
  };
}

export const TABLES = { logs: 'otel_logs', traces: 'otel_traces', metrics: 'otel_metrics_sum' };

export async function otlpRows() {
  const fleetFile = join(directory, 'otlp.json');
  const fleet = benchFleet({ entities: 20, days: 0 });
  fleet.organizations[0].dashboardTokens.push({ name: 'ingest', token: INGEST_TOKEN, access: 'ingest' });
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const server = await startServer(join(directory, 'otlp'), [
    '--fleet',
    fleetFile,
    '--rate-limit',
    'off',
    '--log-level',
    'warn',
    '--telemetry',
    'off',
  ]);
  const engine = await openEngine(join(directory, 'otlp-engine'));
  const columns = readColumns();
  const rows = [];
  for (const one of CASES) rows.push(...(await measureCase(one)));
  rows.push(...(await measureBeside()));
  await engine.close();
  await server.stop();
  return [...rows, ...measureDecoder()];

  function sendTo(signal, format) {
    const headers = {
      authorization: INGEST_TOKEN,
      'content-type': format === 'json' ? 'application/json' : 'application/x-protobuf',
    };
    return (body) => post(`${server.url}/v1/${signal}`, body, headers);
  }

  async function measureCase({ signal, format, goal, name }) {
    const rates = { ours: [], baseline: [] };
    const statement = `INSERT INTO pilothouse.${TABLES[signal]} (${columns[signal].join(', ')}) FORMAT RowBinary`;
    const insertUrl = `${engine.url}/?query=${encodeURIComponent(statement)}`;
    for (let round = 0; round <= ROUNDS; round++) {
      const count = round === 0 ? 64 : REQUESTS_PER_ROUND;
      const bodies = Array.from({ length: count }, (_, index) =>
        createRequest(signal, format, index % SENDERS, (round * REQUESTS_PER_ROUND + index) * RECORDS, RECORDS),
      );
      const converted = await convert(signal, format, bodies);
      const inserts = [];
      const perInsert = ROWS_PER_INSERT / RECORDS;
      for (let at = 0; at < converted.length; at += perInsert)
        inserts.push(Buffer.concat(converted.slice(at, at + perInsert)));
      const direct = await measureRate(inserts, 2, ROWS_PER_INSERT, (body) => post(insertUrl, body));
      await delay(SETTLE_MS);
      const through = await measureRate(bodies, SENDERS, RECORDS, sendTo(signal, format));
      await delay(SETTLE_MS);
      // The first round warms up both sides.
      if (round === 0) continue;
      rates.ours.push(through);
      rates.baseline.push(direct);
    }
    const title = `OTLP ${name}, ${RECORDS} per request, ${SENDERS} senders: rows`;
    const rate = median(rates.ours);
    const absolute = figureRow(`${title}, absolute`, `${formatThousands(rate)}/s`, '≥ 60,000/s', rate >= 60_000);
    return [
      ratioRow(title, rates, 'the same rows directly into the engine', goal),
      ...(name === 'logs' ? [absolute] : []),
    ];
  }

  /** At saturation: the event loop, other requests and memory. At half of it: how long a sender waits. */
  async function measureBeside() {
    const bodies = Array.from({ length: REQUESTS_PER_ROUND }, (_, index) =>
      createRequest('logs', 'protobuf', index % SENDERS, index * RECORDS, RECORDS),
    );
    const send = sendTo('logs', 'protobuf');
    await fetch(`${server.url}/metrics`);
    let isRunning = true;
    const gets = [];
    const getting = (async () => {
      while (isRunning) {
        const startedAt = performance.now();
        await (await fetch(`${server.url}${base}/services/${serviceId}`, { headers: { authorization } })).text();
        gets.push(performance.now() - startedAt);
        await delay(20);
      }
    })();
    const rate = await measureRate([...bodies, ...bodies, ...bodies], SENDERS, RECORDS, send);
    isRunning = false;
    await getting;
    const memory = residentMb(server.pid);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const lag = 1000 * Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1] ?? Number.NaN) - SAMPLING_MS;
    const waits = await sendPaced(bodies, rate / 2 / RECORDS, send);
    const [getP99, waitP99] = [percentile(gets, 0.99), percentile(waits, 0.99)];
    return [
      figureRow(
        'event-loop delay p99 while OTLP logs saturate the server',
        `${lag.toFixed(1)} ms`,
        '< 20 ms',
        lag < 20,
      ),
      figureRow('GET …/services/{id} meanwhile: p99', `${getP99.toFixed(1)} ms`, '< 15 ms', getP99 < 15),
      figureRow('memory of the server meanwhile', `${memory} MB`, '< 400 MB', memory < 400),
      figureRow(
        'OTLP logs at half of the maximum, accepted: p99',
        `${Math.round(waitP99)} ms`,
        '< 400 ms',
        waitP99 < 400,
      ),
    ];
  }

  async function sendPaced(bodies, perSecond, send) {
    const startedAt = performance.now();
    const waits = [];
    await Promise.all(
      bodies.map(async (body, index) => {
        await delay(Math.max(0, startedAt + (index / perSecond) * 1000 - performance.now()));
        waits.push(await send(body));
      }),
    );
    return waits;
  }
}

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** The baseline that the conversion has to beat: objects alone, without rows. */
function measureDecoder() {
  const body = createRequest('logs', 'protobuf', 1, 0, 5000);
  for (let round = 0; round < 10; round++) decodeObjects('logs', body);
  const startedAt = process.cpuUsage().user;
  for (let round = 0; round < 20; round++) decodeObjects('logs', body);
  const seconds = (process.cpuUsage().user - startedAt) / 1e6;
  return [
    figureRow(
      'protobufjs: log records decoded into objects, per second of CPU',
      formatThousands((20 * 5000) / seconds),
      '',
      true,
    ),
  ];
}
