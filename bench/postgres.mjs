// Reads on PostgreSQL compared with a minimal server that reads the same rows. No rows if PostgreSQL is not installed.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { key, organizationId } from './fleet.mjs';
import { createDatabase, openPostgres } from './postgres-server.mjs';
import { authorization, base, directory, formatRequest, measureRates, ratioRow, startServer } from './tools.mjs';

const POOL_SIZE = 10;

export async function postgresRows(fleetFile) {
  const postgres = await openPostgres();
  if (!postgres) return [];
  try {
    const args = await createDatabase(postgres.url, 'reads');
    const server = await startServer(join(directory, 'postgres'), [...SERVER, '--fleet', fleetFile, ...args]);
    const rows = [];
    for (const connections of [64, 10]) rows.push(await serviceRow(server, args[1], connections));
    await server.stop();
    return rows;
  } finally {
    await postgres.remove();
  }
}

const SERVER = ['--rate-limit', '100000000/1s', '--database-connections', String(POOL_SIZE)];

async function serviceRow(server, url, connections) {
  const headers = { authorization, 'accept-encoding': 'identity' };
  const list = await (await fetch(`${server.url}${base}/services`, { headers })).json();
  const paths = list.result.map(({ id }) => `${base}/services/${id}`);
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
