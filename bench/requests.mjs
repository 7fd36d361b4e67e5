// Requests beside bare floors: reads beside a server that sends the same bytes, changes beside a loop of commits.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { dashboardId, serviceId } from './fleet.mjs';
import {
  authorization,
  base,
  bearer,
  directory,
  inTurn,
  load,
  measured,
  median,
  ratioRow,
  request,
  startServer,
} from './tools.mjs';

const here = import.meta.dirname;

/** Rows for the report; `isWanted` tells by their name. */
export async function requestRows(fleetFile, isWanted) {
  const server = await startServer(join(directory, 'data'), [
    '--fleet',
    fleetFile,
    '--rate-limit',
    '100000000/1s',
    '--max-keys',
    '1000000',
  ]);
  const board = `/api/v2/dashboards/${dashboardId}`;
  const changes = [3, 4].map((numReplicas) =>
    request('PATCH', `${base}/services/${serviceId}/scaling`, { numReplicas }),
  );
  const key = request('POST', `${base}/keys`, { name: 'bench', roles: ['developer'] });
  const measurements = {
    'GET …/usageCost, 620 records': (name) =>
      readRow(server, name, `${base}/usageCost?from_date=2026-10-01&to_date=2026-10-31`, 0.5),
    'GET …/services/{id}': (name) => readRow(server, name, `${base}/services/${serviceId}`, 0.45),
    'GET /api/v2/dashboards/{id}, 12 tiles': (name) => readRow(server, name, board, 0.5, { who: bearer }),
    'GET /api/v2/dashboards, 100 of them': (name) => readRow(server, name, '/api/v2/dashboards', 0.6, { who: bearer }),
    'GET /api/v2/dashboards/{id}, 304': (name) => readRow(server, name, board, 0.5, { who: bearer, isKnown: true }),
    'PATCH …/scaling, 32 connections': (name) => writeRow(server, name, changes),
    'POST …/keys, 32 connections': (name) => writeRow(server, name, [key]),
    'GET …/services/{id} in a mixed load': () => mixedRow(server, changes),
    'GET …/services/{id}, with self-telemetry': (name) => telemetryRow(name, fleetFile),
  };
  const rows = [];
  for (const [name, measure] of Object.entries(measurements)) if (isWanted(name)) rows.push(await measure(name));
  await server.stop();
  return rows;
}

/** Throughput beside a bare server that sends the same bytes; `isKnown`: the client has the answer already. */
export async function readRow(
  server,
  name,
  path,
  goal,
  { who = authorization, isKnown = false, connections = 64 } = {},
) {
  const first = await fetch(server.url + path, { headers: { authorization: who, 'accept-encoding': 'identity' } });
  const known = isKnown ? { 'if-none-match': first.headers.get('etag') } : {};
  const answer = await fetch(server.url + path, {
    headers: { authorization: who, 'accept-encoding': 'identity', ...known },
  });
  const body = Buffer.from(await answer.arrayBuffer()).toString('base64');
  const headers = Object.fromEntries(
    [...answer.headers].filter(([header]) => !['connection', 'date', 'keep-alive'].includes(header)),
  );
  const floor = fork(join(here, 'floor-http.mjs'));
  floor.send({ status: answer.status, headers, body });
  const { port } = await new Promise((resolve) => floor.once('message', resolve));
  const asked = [request('GET', path, undefined, { authorization: who, ...known })];
  const expected = String(answer.status);
  const load = { connections, requests: asked, expected };
  const rates = await inTurn({ port: server.port, ...load }, { port, ...load });
  floor.kill();
  return ratioRow(name, rates, 'bare node:http, same bytes', goal);
}

/** Durable changes beside a bare loop of durable commits. */
async function writeRow(server, name, requests) {
  const rates = await inTurn({ port: server.port, connections: 32, requests }, { commitsIn: directory });
  return ratioRow(name, rates, 'bare loop of commits', 0.7);
}

/** How long a read takes while 500 changes a second are made. */
async function mixedRow(server, changes) {
  const reads = [request('GET', `${base}/services/${serviceId}`)];
  const [[{ p50, p99 }], [written]] = await Promise.all([
    load([{ port: server.port, connections: 4, requests: reads, perSecond: 1000 }]),
    load([{ port: server.port, connections: 16, requests: changes, perSecond: 500 }]),
  ]);
  return measured(
    `GET …/services/{id} while ${Math.round(median(written.perSecond))} writes/s run: p99`,
    `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms)`,
    '< 10 ms',
    p99 < 10,
  );
}

/** What writing our own telemetry takes from the requests it tells of: the same server with and without it. */
async function telemetryRow(name, fleetFile) {
  const args = ['--fleet', fleetFile, '--rate-limit', 'off', '--telemetry'];
  const writing = await startServer(join(directory, 'writing'), [...args, 'on']);
  const silent = await startServer(join(directory, 'silent'), [...args, 'off']);
  // Whoever draws a tile starts the engine, and from then on it is written to.
  const asked = {
    startTime: 0,
    endTime: 3_600_000,
    series: [{ sourceId: 'logs', aggFn: 'count', where: '', groupBy: [] }],
  };
  await fetch(`${writing.url}/api/v2/charts/series`, {
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  const reads = [request('GET', `${base}/services/${serviceId}`)];
  const load = { connections: 64, requests: reads };
  const rates = await inTurn({ port: writing.port, ...load }, { port: silent.port, ...load });
  await writing.stop();
  await silent.stop();
  return ratioRow(name, rates, 'without', 0.95);
}
