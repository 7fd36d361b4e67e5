// npm run bench -- backups: a backup and a restore of an embedded service, compared with BACKUP and RESTORE of ClickHouse alone, and what
// a backup costs queries; and the native protocol. BENCH_BACKUP_MB is the size of the data; the goals are for 5000, which needs 20 GB of disk for
// each round (BENCH_BACKUP_ROUNDS).
import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { benchFleet } from './fleet.mjs';
import { findFreePort, send, startListener } from './listener.mjs';
import { nativeRow } from './native.mjs';
import { authorization, base, directory, median, startServer, ROUNDS as USUAL_ROUNDS } from './tools.mjs';

const MB = Number(process.env.BENCH_BACKUP_MB ?? 200);
const ROUNDS = Number(process.env.BENCH_BACKUP_ROUNDS ?? USUAL_ROUNDS);
const GOAL_MB = 5000;
const POLL_MS = 20;
const CLIENTS = 2;
/** Rows of 1 KB that cannot be compressed. */
const SETUP = [
  'CREATE TABLE t (n UInt64, s String) ENGINE = MergeTree ORDER BY n',
  `INSERT INTO t SELECT number, randomString(1000) FROM numbers(${MB * 1000}) SETTINGS max_block_size = 65536, min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 0, max_insert_threads = 1`,
  'OPTIMIZE TABLE t FINAL',
];
const QUERY = 'SELECT sum(n), max(length(s)) FROM t WHERE n < 5000';

async function run(url, statement, headers) {
  const { status, text } = await send(url, statement, headers);
  if (status !== 200) throw new Error(`${statement} was answered with ${status}: ${text}`);
}

const measure = async (work) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** Queries per second of clients that send one after the other, until `work` ends. */
async function measureQueries(url, headers, work) {
  let isEnded = false;
  let queries = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isEnded) {
      await run(url, QUERY, headers);
      queries++;
    }
  });
  const ms = await measure(work);
  isEnded = true;
  await Promise.all(clients);
  return { ms, perSecond: (queries * 1000) / ms };
}

export async function backupRows() {
  const fleet = join(directory, 'backups-fleet.json');
  await writeFile(fleet, JSON.stringify(benchFleet({ entities: 0, days: 0 })));
  const data = join(directory, 'backups');
  const server = await startServer(data, ['--fleet', fleet, '--endpoint-ports', '0', '--rate-limit', 'off']);
  const bareFolder = join(directory, 'bare-backups');
  const nativePort = await findFreePort();
  const elements = `<backups><allowed_path>${join(bareFolder, 'data/backups')}/</allowed_path></backups>`;
  const startBare = () => startListener(bareFolder, 2 ** 30, { elements, nativePort });
  let bare = await startBare();
  try {
    const api = createApi(server.url);
    await bare.untilAnswer();
    const native = await measureNative(api, nativePort);
    for (const statement of SETUP) await run(`${bare.url}/`, statement);
    const figures = { backups: [], bareBackups: [], restores: [], bareRestores: [], quiet: [], busy: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const service = await api.createService({ driver: 'embedded' });
      for (const statement of SETUP) await run(service.url, statement, service.headers);
      figures.quiet.push((await measureQueries(service.url, service.headers, () => delay(3000))).perSecond);
      figures.bareBackups.push(
        await measure(() => run(`${bare.url}/`, `BACKUP DATABASE default TO File('b${round}')`)),
      );
      let backupId;
      figures.backups.push(
        await measure(async () => {
          backupId = await api.backUp(service.id);
        }),
      );
      await run(service.url, 'TRUNCATE TABLE t', service.headers);
      for (const statement of SETUP.slice(1)) await run(service.url, statement, service.headers);
      const loaded = await measureQueries(service.url, service.headers, () => api.backUp(service.id));
      figures.busy.push(loaded.perSecond);
      figures.bareRestores.push(
        await measure(async () => {
          await bare.stop();
          bare = await startBare();
          await bare.untilAnswer();
          await run(
            `${bare.url}/`,
            `RESTORE DATABASE default AS r${round} FROM File('b${round}') SETTINGS allow_different_database_def = 1`,
          );
        }),
      );
      let restored;
      figures.restores.push(
        await measure(async () => {
          restored = await api.createService({ backupId });
        }),
      );
      await run(`${bare.url}/`, `DROP DATABASE r${round} SYNC`);
      for (const id of [service.id, restored.id]) await api.remove(id);
    }
    return [...toRows(figures), native];
  } finally {
    await bare.stop();
    await server.stop();
    for (const folder of [data, bareFolder]) rmSync(folder, { recursive: true, force: true });
  }
}

/** `port`: of ClickHouse alone. */
async function measureNative(api, port) {
  const { id, native, password } = await api.createService({ driver: 'embedded' });
  const row = await nativeRow({ port: native.port, password }, { port });
  await api.remove(id);
  return row;
}

function toRows({ backups, bareBackups, restores, bareRestores, quiet, busy }) {
  const toRate = (ms) => (MB * 1000) / ms;
  const row = (name, ours, baseline, about, unit, goal) => {
    const ratio = median(ours.map((value, index) => value / baseline[index]));
    const format = (values) => `${Math.round(median(values))} ${unit}`;
    return {
      name: `${name}, ${MB} MB`,
      ours: format(ours),
      baseline: `${format(baseline)}, ${about}`,
      ratio: ratio.toFixed(2),
      // Small backups mostly wait: requests are found once a second.
      goal: MB >= GOAL_MB ? `≥ ${goal}` : `≥ ${goal} with ${GOAL_MB} MB`,
      isMet: ratio >= goal,
    };
  };
  return [
    row('backup of an embedded service', backups.map(toRate), bareBackups.map(toRate), 'BACKUP', 'MB/s', 0.8),
    row(
      'restore into a new service',
      restores.map(toRate),
      bareRestores.map(toRate),
      'a start and RESTORE',
      'MB/s',
      0.8,
    ),
    row('queries during a backup', busy, quiet, 'without', 'queries/s', 0.7),
  ];
}

/** The requests to the server. */
function createApi(url) {
  async function call(method, path, body) {
    const response = await fetch(`${url}${base}/services${path}`, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json = await response.json();
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${json.error}`);
    return json.result;
  }

  async function until(path, isReached) {
    for (;;) {
      const result = await call('GET', path);
      if (isReached(result)) return result;
      await delay(POLL_MS);
    }
  }

  return {
    async createService(more) {
      const wanted = { name: 'bench', provider: 'aws', region: 'eu-central-1', ...more };
      const { service, password } = await call('POST', '', wanted);
      const { endpoints } = await until(`/${service.id}`, ({ state }) => state === 'running');
      const headers = { authorization: `Basic ${Buffer.from(`default:${password}`).toString('base64')}` };
      const [{ host, port }, native] = endpoints;
      return { id: service.id, url: `http://${host}:${port}/`, headers, native, password };
    },
    async backUp(id) {
      const requested = await call('POST', `/${id}/backups`);
      const path = `/${id}/backups/${requested.id}`;
      const { status, error } = await until(path, (backup) => backup.status !== 'in_progress');
      if (status !== 'done') throw new Error(error);
      return requested.id;
    },
    async remove(id) {
      await call('PATCH', `/${id}/state`, { command: 'stop' });
      await until(`/${id}`, ({ state }) => state === 'stopped');
      await call('DELETE', `/${id}`);
    },
  };
}
