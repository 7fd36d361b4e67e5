// What evaluating alerts costs: processor time of the server and of the engine, and the event loop with many groups.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { openEngine } from './baseline-engine.mjs';
import { benchFleet, organizationId } from './fleet.mjs';
import { measureStores, nameStore } from './postgres-server.mjs';
import { directory, figureRow, formatThousands, startServer, watchMemory } from './tools.mjs';

const ALERTS = 500;
const GROUPS = 10_000;
/** Logs of each minute. */
const ROWS = Number(process.env.BENCH_ALERTS_ROWS ?? 20_000);
const SECONDS = Number(process.env.BENCH_ALERTS_SECONDS ?? 120);
const WRITER = 'bench-writer-token';
const bearer = `Bearer ${WRITER}`;
const MINUTE_MS = 60_000;
const MINUTES = { before: 10, after: 60 };
const PROBE = join(import.meta.dirname, '../test/hostile/loop-probe.cjs');
const LISTED_TURN_MS = 20;

/** 10,000 users and 20 services in every minute. */
const logsQuery = (startMs) => `INSERT INTO pilothouse.otel_logs
  (OrganizationId, Timestamp, SeverityText, SeverityNumber, ServiceName, Body, LogAttributes)
  SELECT '${organizationId}', fromUnixTimestamp64Milli(toInt64(${startMs}) + intDiv(toInt64(number) * ${MINUTE_MS}, ${ROWS})),
    ['INFO', 'WARN', 'ERROR'][1 + sipHash64(number) % 3], 9, concat('service-', toString(number % 20)),
    concat('order ', toString(sipHash64(number) % 1000), ' was shipped'), map('user', concat('user-', toString(number % ${GROUPS})))
  FROM numbers(${ROWS * (MINUTES.before + MINUTES.after)}) SETTINGS max_threads = 1, max_insert_threads = 1`;

export const alertRows = () => measureStores(measureStore);

async function measureStore(store, createStore) {
  const receiver = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end()));
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const engine = await openEngine(join(directory, `alerts-engine-${store}`));
  const fleetFile = join(directory, 'alerts.json');
  const fleet = benchFleet({ entities: 1, days: 0 });
  fleet.organizations[0].dashboardTokens.push({ name: 'writer', token: WRITER, access: 'write' });
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const args = ['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'error', '--telemetry', 'off'];
  const probeFile = join(directory, `alerts-turns-${store}`);
  const server = await startServer(
    join(directory, `alerts-${store}`),
    [...args, '--webhook-allow-private', 'yes', '--clickhouse-url', engine.url, ...(await createStore('alerts'))],
    { NODE_OPTIONS: `--require ${JSON.stringify(PROBE)}`, LOOP_PROBE_FILE: probeFile },
  );
  try {
    await engine.run(logsQuery(Math.floor(Date.now() / MINUTE_MS - MINUTES.before) * MINUTE_MS));
    while (Number(await engine.run('SELECT count() FROM system.merges')) > 0) await delay(500);
    const hook = { name: 'hook', service: 'generic', url: `http://127.0.0.1:${receiver.address().port}/` };
    const { id: webhookId } = await post(server, 'webhooks', hook);
    const rows = await measureMany(store, server, engine, webhookId);
    return [...rows, ...(await measureGroups(store, server, webhookId, probeFile))];
  } finally {
    await server.stop();
    await engine.close();
    receiver.closeAllConnections();
    receiver.close();
  }
}

async function post(server, path, body) {
  const response = await fetch(`${server.url}/api/v2/${path}`, {
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { data, message } = await response.json();
  if (!response.ok) throw new Error(`${path}: ${message}`);
  return data;
}

const remove = (server, path) =>
  fetch(`${server.url}/api/v2/${path}`, { method: 'DELETE', headers: { authorization: bearer } });

/** Shares of a core of both processes, for some time. */
async function measureShares(pids, seconds) {
  const before = pids.map(cpuSeconds);
  const startedAt = performance.now();
  await delay(seconds * 1000);
  const passed = (performance.now() - startedAt) / 1000;
  return pids.map((pid, index) => (cpuSeconds(pid) - before[index]) / passed);
}

/** User and system time of all threads. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Each alert has a saved search of its own, so none shares a query. */
async function measureMany(store, server, engine, webhookId) {
  const pids = [server.pid, engine.pid];
  await delay(5000);
  const idle = await measureShares(pids, SECONDS / 4);
  const searches = [];
  for (let index = 0; index < ALERTS; index++) {
    const where = `ServiceName:"service-${index % 20}" AND Body:"order ${index}"`;
    const { id } = await post(server, 'saved-searches', { name: `search ${index}`, sourceId: 'logs', where });
    searches.push(id);
    const rule = { interval: '1m', threshold: 1_000_000, thresholdType: 'above' };
    await post(server, 'alerts', { savedSearchId: id, channel: { type: 'webhook', webhookId }, ...rule });
  }
  await delay(MINUTE_MS);
  const busy = await measureShares(pids, SECONDS);
  const [server_, engine_] = busy.map((share, index) => 100 * (share - idle[index]));
  // With the alerts of a search.
  for (const id of searches) await remove(server, `saved-searches/${id}`);
  const name = `${ALERTS} alerts per minute, ${formatThousands(ROWS)} logs per minute: processor of`;
  return [
    figureRow(`${name} the server${nameStore(store)}`, `${server_.toFixed(1)} %`, '< 10 %', server_ < 10),
    figureRow(`${name} the engine${nameStore(store)}`, `${engine_.toFixed(1)} %`, '', true),
  ];
}

/** All groups fire with the first window, and stay so. */
async function measureGroups(store, server, webhookId, probeFile) {
  const listTurns = () =>
    existsSync(probeFile) ? readFileSync(probeFile, 'utf8').split('\n').filter(Boolean).map(Number) : [];
  const memory = watchMemory(server.pid);
  const known = listTurns().length;
  const metric = { type: 'time', sourceId: 'logs', aggFn: 'max', field: 'SeverityNumber', where: '', groupBy: [] };
  const { id } = await post(server, 'alerts', {
    source: 'metric',
    metric,
    groupBy: "LogAttributes['user']",
    channel: { type: 'webhook', webhookId },
    interval: '1m',
    threshold: 1,
    thresholdType: 'above',
  });
  await delay(SECONDS * 1000);
  // Before the request below: the first one of a kind compiles its serializer.
  const longest = Math.max(0, ...listTurns().slice(known));
  const added = memory.stop();
  const response = await fetch(`${server.url}/api/v2/alerts/${id}`, { headers: { authorization: bearer } });
  const { status, firingGroups } = (await response.json()).data;
  if (firingGroups !== GROUPS) throw new Error(`${status}: ${firingGroups} groups fire`);
  const name = `an alert with ${formatThousands(GROUPS)} firing groups`;
  const shown = longest === 0 ? `< ${LISTED_TURN_MS} ms` : `${longest} ms`;
  return [
    figureRow(
      `${name}: longest turn of the event loop, processor time${nameStore(store)}`,
      shown,
      '< 50 ms',
      longest < 50,
    ),
    figureRow(`${name}: additional memory${nameStore(store)}`, `${added} MB`, '< 150 MB', added < 150),
  ];
}
