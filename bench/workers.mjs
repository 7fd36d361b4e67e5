// npm run bench -- workers: reads with two worker processes compared with one process, on both stores.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchFleet } from './fleet.mjs';
import { measureStores } from './postgres-server.mjs';
import { limitProcesses } from './processor-share.mjs';
import { listChildren } from './soak.mjs';
import { base, directory, formatRequest, measureRates, ratioRow, startServer } from './tools.mjs';

const CONNECTIONS = 64;
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
  const load = { connections: CONNECTIONS, requests };

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
    const measure = () => measureRates({ port: two.port, ...load }, { port: one.port, ...load });
    // With all their time, until the code is compiled.
    await measure();
    const limit = limitProcesses([one.pid, ...listChildren(two.pid).slice(0, WORKERS)], SHARE);
    const rates = await measure();
    await Promise.all([two.stop(), one.stop()]);
    limit?.remove();
    const each = limit ? `, each with ${SHARE} of a processor` : '';
    const name = `GET …/services/{id} with ${WORKERS} workers${each}, ${store}, ${CONNECTIONS} connections`;
    return [ratioRow(name, rates, 'one process', GOAL)];
  });
}
