// npm run bench -- workers: reads with two worker processes compared with one process, on both stores.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchFleet } from './fleet.mjs';
import { measureStores } from './postgres-server.mjs';
import { limitProcesses } from './processor-share.mjs';
import { listChildren } from './soak.mjs';
import { base, directory, formatRequest, measureRates, ratioRow, startServer } from './tools.mjs';

/** On PostgreSQL, a process with more connections reads more rows with each statement. */
const CONNECTIONS = [64, 256];
const SERVICES = 32;
const WORKERS = 2;
/** Of a processor, for each process that serves requests. The load, the database and the other processes need the rest. */
const SHARE = 0.25;
const GOAL = 1.6;

export async function workerRows() {
  const fleetFile = join(directory, 'workers.json');
  const fleet = benchFleet({ entities: SERVICES, days: 31 });
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const { services } = fleet.organizations[0];
  const requests = services.map(({ id }) => formatRequest('GET', `${base}/services/${id}`));

  return measureStores(async (store, createStore) => {
    const start = async (name, args) =>
      startServer(join(directory, `${store}-${name}`), [
        '--fleet',
        fleetFile,
        '--rate-limit',
        'off',
        ...(await createStore(name)),
        ...args,
      ]);
    const two = await start('two', ['--workers', String(WORKERS)]);
    const one = await start('one', []);
    const measure = (connections) =>
      measureRates({ port: two.port, connections, requests }, { port: one.port, connections, requests });
    // With all their time, until the code is compiled.
    await measure(CONNECTIONS[0]);
    const limit = limitProcesses([one.pid, ...listChildren(two.pid).slice(0, WORKERS)], SHARE);
    const each = limit ? `, each with ${SHARE} of a processor` : '';
    const rows = [];
    for (const connections of CONNECTIONS) {
      const name = `GET …/services/{id} with ${WORKERS} workers${each}, ${store}, ${connections} connections`;
      rows.push(ratioRow(name, await measure(connections), 'one process', GOAL));
    }
    await Promise.all([two.stop(), one.stop()]);
    limit?.remove();
    return rows;
  });
}
