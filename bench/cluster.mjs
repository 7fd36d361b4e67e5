// The processor time of storing telemetry: on one engine, through Distributed tables and directly on two shards.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { openEngine } from './baseline-engine.mjs';
import { benchFleet } from './fleet.mjs';
import { findFreePort, startListener } from './listener.mjs';
import { convert, measureRate, post, readColumns, TABLES } from './otlp.mjs';
import { createRequest } from './otlp-messages.mjs';
import { directory, figureRow, formatThousands, median, startServer } from './tools.mjs';

const RECORDS = 512;
const SENDERS = 16;
const REQUESTS = Number(process.env.BENCH_OTLP_REQUESTS ?? 256);
const ROUNDS = Number(process.env.BENCH_OTLP_ROUNDS ?? 3);
const ROWS_PER_INSERT = 16 * RECORDS;
/** Merges follow the inserts. */
const SETTLE_MS = 5000;
const INGEST_TOKEN = 'bench-ingest-token';
const MEMORY_BYTES = 1200 * 2 ** 20;
const TICKS_PER_SECOND = 100;
const NAMES = { logs: 'log record', traces: 'span', metrics: 'data point of a sum' };

const root = join(import.meta.dirname, '..');
const migrations = join(root, 'migrations/engine');

/** Two shards with the tables that `--clickhouse-cluster` creates, without replicas: the library cannot replicate. */
async function openShards() {
  const ports = [await findFreePort(), await findFreePort()];
  const shards = ports.map((port) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`);
  const listeners = [];
  for (const [index, port] of ports.entries()) {
    const elements = `<tcp_port>${port}</tcp_port><remote_servers><main>${shards.join('')}</main></remote_servers>`;
    const program = join(root, 'test/support/clickhouse-shard.cjs');
    const listener = await startListener(join(directory, `shard${index}`), MEMORY_BYTES, { program, elements });
    await listener.untilAnswer();
    listeners.push(listener);
  }
  const golden = readFileSync(join(root, 'src/platform/engine/cluster/cluster-statements.golden.sql'), 'utf8');
  const history = `CREATE TABLE pilothouse.schema_migrations_local (version UInt32, name String, checksum String, applied_at DateTime64(3) DEFAULT now64(3)) ENGINE = MergeTree ORDER BY version;
CREATE TABLE pilothouse.schema_migrations AS pilothouse.schema_migrations_local ENGINE = Distributed('main', 'pilothouse', 'schema_migrations_local', cityHash64(version))`;
  const statements = `${golden}\n${history}`
    .split(/;\n/)
    .map((text) =>
      text
        .trim()
        .replace(" ON CLUSTER 'main'", '')
        .replace(/Replicated(\w*MergeTree)\('[^']*', '\{replica\}'(?:, )?/, '$1('),
    )
    .filter((text) => text !== '' && !text.startsWith('INSERT'));
  for (const { url } of listeners) for (const statement of statements) await post(url, Buffer.from(statement));
  const applied = readdirSync(migrations).map((file) => {
    const checksum = createHash('sha256')
      .update(readFileSync(join(migrations, file), 'utf8'))
      .digest('hex');
    return `(${Number.parseInt(file, 10)}, '${file.replace('.sql', '')}', '${checksum}')`;
  });
  const insert = (table, columns, values) =>
    post(listeners[0].url, Buffer.from(`INSERT INTO pilothouse.${table}_local (${columns}) VALUES ${values}`));
  await insert('schema_migrations', 'version, name, checksum', applied.join(', '));
  await insert('engine_identity', 'Identity', `('bench')`);
  return listeners;
}

/** Of all threads of a process, in seconds. */
function readProcessorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Microseconds of processor time per row of each process, without what it needs when nothing is stored. */
async function measureTime(pids, rows, work) {
  const idle = await readUse(pids, () => delay(SETTLE_MS));
  const busy = await readUse(pids, async () => {
    await work();
    await delay(SETTLE_MS);
  });
  return busy.times.map((time, index) => {
    const idleTime = (idle.times[index] / idle.seconds) * busy.seconds;
    return (Math.max(0, time - idleTime) * 1e6) / rows;
  });
}

async function readUse(pids, work) {
  const startedAt = performance.now();
  const before = pids.map(readProcessorTime);
  await work();
  const times = pids.map((pid, index) => readProcessorTime(pid) - before[index]);
  return { times, seconds: (performance.now() - startedAt) / 1000 };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

export async function clusterRows() {
  const fleetFile = join(directory, 'cluster.json');
  const fleet = benchFleet({ entities: 20, days: 0 });
  fleet.organizations[0].dashboardTokens.push({ name: 'ingest', token: INGEST_TOKEN, access: 'ingest' });
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const single = await openEngine(join(directory, 'single'));
  const shards = await openShards();
  const [first, second] = shards.map(({ url }) => url);
  const pids = shards.map(({ pid }) => pid);
  const server = await startServer(join(directory, 'cluster-server'), [
    ...['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'warn', '--telemetry', 'off'],
    ...['--clickhouse-url', first, '--clickhouse-cluster', 'main'],
  ]);
  const columns = readColumns();
  const rows = [];
  for (const signal of Object.keys(NAMES)) rows.push(...(await measureSignal(signal)));
  await server.stop();
  await single.close();
  for (const shard of shards) await shard.stop();
  return rows;

  async function measureSignal(signal) {
    const getUrl = (url, table, settings = '') =>
      `${url}/?${settings}query=${encodeURIComponent(`INSERT INTO pilothouse.${table} (${columns[signal].join(', ')}) FORMAT RowBinary`)}`;
    const table = TABLES[signal];
    const times = { one: [], direct: [], distributed: [], server: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      const bodies = Array.from({ length: round === 0 ? 64 : REQUESTS }, (_, index) =>
        createRequest(signal, 'protobuf', index % SENDERS, (round * REQUESTS + index) * RECORDS, RECORDS),
      );
      const count = bodies.length * RECORDS;
      const converted = await convert(signal, 'protobuf', bodies);
      const join = (requests) => {
        const inserts = [];
        for (let at = 0; at < converted.length; at += requests)
          inserts.push(Buffer.concat(converted.slice(at, at + requests)));
        return inserts;
      };
      const whole = join(ROWS_PER_INSERT / RECORDS);
      // The same number of rows per part as through a Distributed table.
      const halves = join(ROWS_PER_INSERT / RECORDS / 2).map((body, index) => ({
        body,
        url: index % 2 ? second : first,
      }));
      const send = (items, rowsPerItem, request) => () => measureRate(items, 2, rowsPerItem, request);
      const results = {
        one: await measureTime(
          [single.pid],
          count,
          send(whole, ROWS_PER_INSERT, (body) => post(getUrl(single.url, table), body)),
        ),
        direct: await measureTime(
          pids,
          count,
          send(halves, ROWS_PER_INSERT / 2, ({ body, url }) => post(getUrl(url, `${table}_local`), body)),
        ),
        distributed: await measureTime(
          pids,
          count,
          send(whole, ROWS_PER_INSERT, (body) => post(getUrl(first, table, 'insert_distributed_sync=1&'), body)),
        ),
        server: await measureTime([server.pid, ...pids], count, () =>
          measureRate(bodies, SENDERS, RECORDS, (body) =>
            post(`${server.url}/v1/${signal}`, body, {
              authorization: INGEST_TOKEN,
              'content-type': 'application/x-protobuf',
            }),
          ),
        ),
      };
      // The first round warms everything up.
      if (round > 0) for (const [name, values] of Object.entries(results)) times[name].push(values);
    }
    const total = (name) => median(times[name].map(sum));
    const row = (text, us, note = '') =>
      figureRow(
        `${NAMES[signal]}: ${text}`,
        `${us.toFixed(1)} µs, ${formatThousands(1e6 / us)} rows/s per core`,
        note,
        true,
      );
    const direct = total('direct');
    return [
      row('insert into one engine', total('one')),
      row('insert directly into two shards', direct),
      row(
        'insert through a Distributed table',
        total('distributed'),
        `${(total('distributed') / direct).toFixed(2)} of direct`,
      ),
      row('received by Pilothouse, the server alone', median(times.server.map(([own]) => own))),
      row('received by Pilothouse, the two shards', median(times.server.map(([, ...others]) => sum(others)))),
    ];
  }
}
