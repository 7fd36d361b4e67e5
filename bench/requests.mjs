// Request rates: reads compared with a minimal server that sends the same bytes, writes with a loop of commits.
import { fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardId, organizationId, serviceId } from './fleet.mjs';
import { measureStores, nameStore } from './postgres-server.mjs';
import {
  authorization,
  base,
  bearer,
  directory,
  figureRow,
  formatRequest,
  measureRates,
  median,
  ratioRow,
  runLoad,
  startServer,
} from './tools.mjs';

const here = import.meta.dirname;
const WRITERS = 32;

/** `isWanted` selects rows by name. */
export const requestRows = (fleetFile, isWanted) =>
  measureStores(async (store, createStore) => {
    const args = await createStore('requests');
    const limits = ['--rate-limit', '100000000/1s', '--max-keys', '1000000'];
    const server = await startServer(join(directory, `data-${store}`), ['--fleet', fleetFile, ...limits, ...args]);
    const measurements = {
      ...listReads(server, store),
      ...listWrites(server, args[1]),
      'GET …/services/{id}, with self-telemetry': (name) => telemetryRow(name, fleetFile, createStore),
    };
    const rows = [];
    for (const [shortName, measure] of Object.entries(measurements)) {
      const name = `${shortName}${nameStore(store)}`;
      if (isWanted(name)) rows.push(await measure(name));
    }
    await server.stop();
    return rows;
  });

/** On PostgreSQL, a read needs two statements, other than the baseline; `npm run bench -- postgres` compares with a server that sends them. */
function listReads(server, store) {
  const board = `/api/v2/dashboards/${dashboardId}`;
  const onLibsql = (goal) => (store === 'libSQL' ? goal : undefined);
  return {
    'GET …/usageCost, 620 records': (name) =>
      readRow(server, name, `${base}/usageCost?from_date=2026-10-01&to_date=2026-10-31`, 0.5),
    'GET …/services/{id}': (name) => readRow(server, name, `${base}/services/${serviceId}`, onLibsql(0.45)),
    'GET /api/v2/dashboards/{id}, 12 tiles': (name) =>
      readRow(server, name, board, onLibsql(0.5), { credentials: bearer }),
    'GET /api/v2/dashboards, 100 dashboards': (name) =>
      readRow(server, name, '/api/v2/dashboards', 0.6, { credentials: bearer }),
    'GET /api/v2/dashboards/{id}, 304': (name) =>
      readRow(server, name, board, onLibsql(0.5), { credentials: bearer, isCached: true }),
  };
}

function listWrites(server, databaseUrl) {
  const changes = [3, 4].map((numReplicas) =>
    formatRequest('PATCH', `${base}/services/${serviceId}/scaling`, { numReplicas }),
  );
  const key = formatRequest('POST', `${base}/keys`, { name: 'bench', roles: ['developer'] });
  return {
    'PATCH …/scaling, 32 connections': (name) => writeRow(server, name, changes, databaseUrl),
    'POST …/keys, 32 connections': (name) => writeRow(server, name, [key], databaseUrl),
    'GET …/services/{id} in a mixed load': (name) => mixedRow(server, name, changes),
    'GET …/services/{id} while 32 clients create keys': (name) => busyRow(server, name, [key]),
  };
}

/** Throughput compared with a minimal server that sends the same bytes. `isCached`: the client sends `If-None-Match`. */
export async function readRow(
  server,
  name,
  path,
  goal,
  { credentials = authorization, isCached = false, connections = 64 } = {},
) {
  const first = await fetch(server.url + path, {
    headers: { authorization: credentials, 'accept-encoding': 'identity' },
  });
  const condition = isCached ? { 'if-none-match': first.headers.get('etag') } : {};
  const response = await fetch(server.url + path, {
    headers: { authorization: credentials, 'accept-encoding': 'identity', ...condition },
  });
  const body = Buffer.from(await response.arrayBuffer()).toString('base64');
  const headers = Object.fromEntries(
    // The first responses may be streamed, later ones are not.
    [...response.headers].filter(
      ([header]) => !['connection', 'date', 'keep-alive', 'transfer-encoding'].includes(header),
    ),
  );
  const baseline = fork(join(here, 'baseline-http.mjs'));
  baseline.send({ status: response.status, headers, body });
  const { port } = await new Promise((resolve) => baseline.once('message', resolve));
  const requests = [formatRequest('GET', path, undefined, { authorization: credentials, ...condition })];
  const expected = String(response.status);
  const load = { connections, requests, expected };
  const rates = await measureRates({ port: server.port, ...load }, { port, ...load });
  baseline.kill();
  return ratioRow(name, rates, 'minimal node:http server, same bytes', goal);
}

/** Durable writes compared with a loop of durable commits. On PostgreSQL, that changes one service, too. */
async function writeRow(server, name, requests, url) {
  const postgresCommits = { url, connections: WRITERS, organizationId, serviceIds: [serviceId] };
  const rates = await measureRates(
    { port: server.port, connections: WRITERS, requests },
    url ? { postgresCommits } : { commitsIn: directory },
  );
  return ratioRow(name, rates, 'commit loop', 0.7);
}

/** Read latency during 500 writes per second. */
async function mixedRow(server, name, changes) {
  const reads = [formatRequest('GET', `${base}/services/${serviceId}`)];
  const [[{ p50, p99 }], [written]] = await Promise.all([
    runLoad([{ port: server.port, connections: 4, requests: reads, perSecond: 1000 }]),
    runLoad([{ port: server.port, connections: 16, requests: changes, perSecond: 500 }]),
  ]);
  return figureRow(
    `${name}, ${Math.round(median(written.perSecond))} writes/s: p99`,
    `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms)`,
    '< 10 ms',
    p99 < 10,
  );
}

/** Read latency while more changes of the organization wait than the store has connections. */
async function busyRow(server, name, changes) {
  const reads = [formatRequest('GET', `${base}/services/${serviceId}`)];
  const beside = { port: server.port, connections: WRITERS, requests: changes, expected: '200' };
  const [{ p50, p99 }] = await runLoad([
    { port: server.port, connections: 4, requests: reads, perSecond: 500, beside },
  ]);
  return figureRow(`${name}: p99`, `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms)`, '< 50 ms', p99 < 50);
}

/** The cost of self-telemetry: the same server with and without it. */
async function telemetryRow(name, fleetFile, createStore) {
  const args = ['--fleet', fleetFile, '--rate-limit', 'off', '--telemetry'];
  const start = async (store, telemetry) =>
    startServer(mkdtempSync(join(directory, store)), [...args, telemetry, ...(await createStore(store))]);
  const writing = await start('writing', 'on');
  const silent = await start('silent', 'off');
  // Telemetry is written once a query has started the engine.
  const query = {
    startTime: 0,
    endTime: 3_600_000,
    series: [{ sourceId: 'logs', aggFn: 'count', where: '', groupBy: [] }],
  };
  await fetch(`${writing.url}/api/v2/charts/series`, {
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json' },
    body: JSON.stringify(query),
  });
  const reads = [formatRequest('GET', `${base}/services/${serviceId}`)];
  const load = { connections: 64, requests: reads };
  const rates = await measureRates({ port: writing.port, ...load }, { port: silent.port, ...load });
  await writing.stop();
  await silent.stop();
  return ratioRow(name, rates, 'without', 0.95);
}
