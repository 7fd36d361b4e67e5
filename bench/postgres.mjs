// Reads on PostgreSQL compared with a minimal server that reads the same rows, changes with a loop of the same transactions. No
// rows if PostgreSQL is not installed.
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchFleet, key, organizationId } from './fleet.mjs';
import { createDatabase, openPostgres } from './postgres-server.mjs';
import { readRow } from './requests.mjs';
import { authorization, base, directory, formatRequest, measureRates, ratioRow, startServer } from './tools.mjs';

const POOL_SIZE = 10;

const WRITERS = 32;

export async function postgresRows() {
  const fleetFile = join(directory, 'postgres-fleet.json');
  writeFileSync(fleetFile, JSON.stringify(benchFleet({ entities: WRITERS, days: 31 })));
  const postgres = await openPostgres();
  if (!postgres) return [];
  try {
    const args = await createDatabase(postgres.url, 'reads');
    const server = await startServer(join(directory, 'postgres'), [...SERVER, '--fleet', fleetFile, ...args]);
    const rows = [];
    for (const connections of [64, 10]) rows.push(await serviceRow(server, args[1], connections));
    rows.push(await scalingRow(server, args[1]));
    const costs = `${base}/usageCost?from_date=2026-10-01&to_date=2026-10-31`;
    rows.push(await readRow(server, 'GET …/usageCost of 31 days on PostgreSQL', costs, 0.5));
    await server.stop();
    return rows;
  } finally {
    await postgres.remove();
  }
}

const SERVER = ['--rate-limit', '100000000/1s', '--database-connections', String(POOL_SIZE)];

const listServiceIds = async (server) => {
  const list = await (await fetch(`${server.url}${base}/services`, { headers: { authorization } })).json();
  return list.result.map(({ id }) => id);
};

/** Every request changes a service: first all to four replicas, then all to five. */
async function scalingRow(server, url) {
  const serviceIds = (await listServiceIds(server)).slice(0, WRITERS);
  const requests = [4, 5].flatMap((numReplicas) =>
    serviceIds.map((id) => formatRequest('PATCH', `${base}/services/${id}/scaling`, { numReplicas })),
  );
  const load = { port: server.port, connections: WRITERS, requests };
  const rates = await measureRates(load, {
    postgresCommits: { url, connections: WRITERS, organizationId, serviceIds },
  });
  const name = `PATCH …/scaling of ${serviceIds.length} services on PostgreSQL, ${WRITERS} connections`;
  return ratioRow(name, rates, `the same transactions on ${WRITERS} connections`, 0.7);
}

async function serviceRow(server, url, connections) {
  const headers = { authorization, 'accept-encoding': 'identity' };
  const paths = (await listServiceIds(server)).map((id) => `${base}/services/${id}`);
  const baseline = fork(join(import.meta.dirname, 'baseline-postgres.mjs'));
  const responses = {};
  for (const path of paths) {
    const response = await fetch(server.url + path, { headers });
    const sent = [...response.headers].filter(([name]) => !['connection', 'date', 'keep-alive'].includes(name));
    responses[path] = { headers: Object.fromEntries(sent), body: await response.text() };
  }
  baseline.send({ url, poolSize: POOL_SIZE, keyId: key.keyId, organizationId, responses });
  const { port } = await new Promise((resolve) => baseline.once('message', resolve));
  const load = { connections, requests: paths.map((path) => formatRequest('GET', path)) };
  const rates = await measureRates({ port: server.port, ...load }, { port, ...load });
  baseline.kill();
  const name = `GET …/services/{id} of ${paths.length} services on PostgreSQL, ${connections} connections`;
  return ratioRow(name, rates, 'minimal node:http server with the same two reads', 0.8);
}
