// npm run bench -- services: waking an idle service, its endpoint, what idle services cost, and what reconciling many services costs.
// npm run bench -- services wakes: one part, printed only. BENCH_WAKES, BENCH_IDLE_SERVICES and BENCH_QUIET_SECONDS shorten the run.
import { spawn } from 'node:child_process';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { openClockedServer } from './clocked-server.mjs';
import { benchFleet } from './fleet.mjs';
import { send, startListener } from './listener.mjs';
import { proxyRows } from './proxy.mjs';
import { directory, figureRow, median, startServer } from './tools.mjs';

const WAKES = Number(process.env.BENCH_WAKES ?? 200);
const IDLE_SERVICES = Number(process.env.BENCH_IDLE_SERVICES ?? 200);
/** Services that are started at the same time. */
const STARTS = 5;
const MANY_SERVICES = 1000;
const QUIET_MS = 1000 * Number(process.env.BENCH_QUIET_SECONDS ?? 120);
/** After a start: every service has been looked at, and memory has settled. */
const SETTLE_MS = 15_000;
const MEMORY_ROUNDS = 3;
const TICKS_PER_SECOND = 100;
const SETUP = [
  'CREATE TABLE t (x UInt64) ENGINE = MergeTree ORDER BY x',
  'INSERT INTO t SELECT number FROM numbers(1000)',
];
const QUERY = 'SELECT count() FROM t';

/** `only`: the name of one part. Each row is printed as soon as it is measured: a run takes up to half an hour. */
export async function servicesRows(only) {
  const parts = { wakes: wakeRows, endpoint: endpointRows, idle: idleRows, quiet: quietRows };
  const rows = [];
  for (const [name, measurePart] of Object.entries(parts)) {
    if (only && only !== name) continue;
    const measured = await measurePart();
    for (const row of measured) console.error(`${row.name}: ${row.ours} (${row.baseline || 'no baseline'})`);
    rows.push(...measured);
  }
  return rows;
}

const emptyFleet = () => benchFleet({ entities: 0, days: 0 });

const measure = async (work) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

async function run(url, statement, headers) {
  const { status, text } = await send(url, statement, headers);
  if (status !== 200) throw new Error(`${statement} was answered with ${status}: ${text}`);
}

/** The first query of an idle service and a start of its program alternate. */
async function wakeRows() {
  const server = await openClockedServer(join(directory, 'wakes'), emptyFleet());
  const { id, url, password } = await server.createService('wakes');
  const authorization = `Basic ${Buffer.from(`default:${password}`).toString('base64')}`;
  for (const statement of SETUP) await run(url, statement, { authorization });
  const bare = join(directory, 'listener');
  const first = await startListener(bare);
  await first.untilAnswer();
  for (const statement of SETUP) await run(`${first.url}/`, statement);
  await first.stop();
  const wakes = [];
  const starts = [];
  for (let i = 0; i < WAKES; i++) {
    await server.letIdle(id);
    wakes.push(await measure(() => run(url, QUERY, { authorization })));
    // ClickHouse keeps merged parts for 8 minutes. Services idle after 5 at the earliest, so they do not gather as many.
    await run(url, 'TRUNCATE TABLE system.query_log', { authorization });
    let listener;
    const startMs = await measure(async () => {
      listener = await startListener(bare);
      await listener.untilAnswer();
      await run(`${listener.url}/`, QUERY);
    });
    starts.push(startMs);
    await listener.stop();
  }
  await server.close();
  const [p50, p95, floor50, floor95] = [
    quantile(wakes, 0.5),
    quantile(wakes, 0.95),
    quantile(starts, 0.5),
    quantile(starts, 0.95),
  ];
  const row = (name, ours, floor, goal, isMet) => ({
    name: `first query of an idle embedded service, ${WAKES} wakes: ${name}`,
    ours: `${Math.round(ours)} ms`,
    baseline: `${Math.round(floor)} ms, starting the bare listener`,
    ratio: (ours / floor).toFixed(2),
    goal,
    isMet,
  });
  return [row('p50', p50, floor50, '', true), row('p95', p95, floor95, '< 600 ms', p95 < 600)];
}

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

async function endpointRows() {
  const { port, untilAnswer, stop } = await startListener(join(directory, 'endpoint'));
  await untilAnswer();
  try {
    return await proxyRows({ host: '127.0.0.1', port, headers: {} });
  } finally {
    await stop();
  }
}

/** The services are made idle once; the server that is measured finds them idle when it starts. */
async function idleRows() {
  const data = join(directory, 'idle');
  const server = await openClockedServer(data, emptyFleet());
  for (let i = 0; i < IDLE_SERVICES; i += STARTS) {
    const names = Array.from({ length: Math.min(STARTS, IDLE_SERVICES - i) }, (_, index) => `idle-${i + index}`);
    const created = await Promise.all(names.map(server.createService));
    await server.letIdle(...created.map(({ id }) => id));
  }
  await server.close();
  const fleetFile = join(directory, 'empty.json');
  writeFileSync(fleetFile, JSON.stringify(emptyFleet()));
  const empty = join(directory, 'no-services');
  await (await startServer(empty, ['--fleet', fleetFile])).stop();
  const rounds = [];
  for (let round = 0; round < MEMORY_ROUNDS; round++)
    rounds.push({ without: await readSettled(empty), idle: await readSettled(data) });
  const difference = median(rounds.map(({ idle, without }) => idle.kilobytes - without.kilobytes));
  const each = difference / IDLE_SERVICES / 1024;
  const processes = Math.max(...rounds.map(({ idle }) => idle.processes));
  const name = `${IDLE_SERVICES} idle embedded services`;
  return [
    figureRow(`${name}: processes of services`, `${processes}`, '0', processes === 0),
    figureRow(`${name}: additional memory of the server, per service`, `${each.toFixed(3)} MB`, '< 1 MB', each < 1),
  ];
}

async function readSettled(data) {
  const server = await startServer(data, ['--endpoint-ports', '0']);
  await delay(SETTLE_MS);
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  const processes = listFolders(server.pid).filter((folder) => folder.includes('/services/')).length;
  await server.stop();
  return { kilobytes: Number(/VmRSS:\s+(\d+)/.exec(status)[1]), processes };
}

/** The working directories of the children of a process: services have their own. */
const listFolders = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map((child) => readlinkSync(`/proc/${child}/cwd`));

/** CPU time while nothing changes, at the same time with a server without services. */
async function quietRows() {
  const receiver = await startReceiver();
  const webhook = { url: receiver.url, secret: receiver.secret };
  const servers = await Promise.all([
    startQuiet('quiet-simulated', { driver: 'simulated' }),
    startQuiet('quiet-webhook', { driver: 'webhook', webhook }),
    startQuiet('quiet-empty'),
  ]);
  await delay(SETTLE_MS);
  const before = servers.map(({ pid }) => readCpuSeconds(pid));
  const startedAt = performance.now();
  await delay(QUIET_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  const shares = servers.map(({ pid }, index) => (100 * (readCpuSeconds(pid) - before[index])) / seconds);
  await Promise.all(servers.map((server) => server.stop()));
  receiver.stop();
  const none = shares.pop();
  return shares.map((share, index) => ({
    name: `${MANY_SERVICES.toLocaleString('en-US')} ${['simulated', 'webhook'][index]} services, nothing changes for ${QUIET_MS / 1000} s: CPU`,
    ours: `${share.toFixed(1)} % of a core`,
    baseline: `${none.toFixed(1)} %, no services`,
    ratio: '',
    goal: '< 5 %',
    isMet: share < 5,
  }));
}

/** A server with many services like `service`, or with none. */
function startQuiet(name, service) {
  const fleetFile = join(directory, `${name}.json`);
  const fleet = emptyFleet();
  fleet.organizations[0].services = Array.from({ length: service ? MANY_SERVICES : 0 }, (_, index) => ({
    id: `00000000-0000-4000-8000-${String(2_000_000 + index).padStart(12, '0')}`,
    name: `quiet-${index}`,
    numReplicas: 3,
    ...service,
  }));
  writeFileSync(fleetFile, JSON.stringify(fleet));
  return startServer(join(directory, name), ['--fleet', fleetFile, '--webhook-allow-private', 'yes']);
}

async function startReceiver() {
  const secret = 'secret-of-the-benchmark';
  const child = spawn(process.execPath, [join(import.meta.dirname, '../examples/webhook-receiver.mjs')], {
    env: { ...process.env, SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve) => child.stdout.once('data', (line) => resolve(String(line).trim())));
  return { url, secret, stop: () => child.kill() };
}

/** User and system time of a process. */
function readCpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
