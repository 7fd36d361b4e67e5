// npm run bench -- nodes: three nodes behind HAProxy, restarted one after the other under load. SOAK_MINUTES shortens the run.
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readHaproxyConfiguration } from '../tools/haproxy.mjs';
import { benchFleet } from './fleet.mjs';
import { findFreePort, startListener } from './listener.mjs';
import { createDatabase, openPostgres } from './postgres-server.mjs';
import { growthRow, loadAtShareOfCapacity, loadRows, MINUTES, sampleMemory } from './soak.mjs';
import { directory, formatThousands, residentMb, startServer } from './tools.mjs';

const HAPROXY = '/usr/sbin/haproxy';
const NODES = 3;
const SERVICES = 10_000;
/** The nodes that were restarted fill their caches again in between. */
const RESTART_AT = 0.4;
const MEASURE_FROM = 0.55;
/** HAProxy notices a node that is ready within a second. */
const BETWEEN_RESTARTS_MS = 3000;

async function startProxy(ports) {
  const port = await findFreePort();
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, readHaproxyConfiguration(port, ports));
  const child = spawn(HAPROXY, ['-db', '-f', file], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const response = await fetch(`${url}/readyz`).catch(() => undefined);
    if (response?.ok) return { url, stop: () => child.kill() };
    await delay(100);
  }
}

/** No rows if PostgreSQL is not installed. */
export async function nodeRows() {
  if (!existsSync(HAPROXY)) throw new Error(`${HAPROXY} is missing; node tools/install.mjs --for-faults installs it`);
  const postgres = await openPostgres();
  if (!postgres) return [];
  const listener = await startListener(join(directory, 'clickhouse'));
  await listener.untilAnswer();
  try {
    return await measure([...(await createDatabase(postgres.url, 'nodes')), '--clickhouse-url', listener.url]);
  } finally {
    await listener.stop();
    await postgres.remove();
  }
}

async function measure(stores) {
  const fleet = benchFleet({ entities: SERVICES, days: 31, withCosts: 100 });
  const fleetFile = join(directory, 'nodes.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const ports = [];
  for (let index = 0; index < NODES; index++) ports.push(await findFreePort());
  const start = (index, more = []) =>
    startServer(join(directory, `node-${index}`), [
      '--port',
      String(ports[index]),
      '--rate-limit',
      'off',
      '--max-services',
      String(SERVICES),
      ...stores,
      ...more,
    ]);
  const nodes = [await start(0, ['--fleet', fleetFile])];
  for (let index = 1; index < NODES; index++) nodes.push(await start(index));
  const proxy = await startProxy(ports);
  let samples;

  async function restartNodes() {
    const totalMs = MINUTES * 60_000;
    await delay(totalMs * RESTART_AT);
    const startedAt = performance.now();
    for (const index of nodes.keys()) {
      await nodes[index].stop();
      nodes[index] = await start(index);
      await delay(BETWEEN_RESTARTS_MS);
    }
    await delay(Math.max(0, totalMs * (MEASURE_FROM - RESTART_AT) - (performance.now() - startedAt)));
    const memory = sampleMemory(() => Object.fromEntries(nodes.map(({ pid }, index) => [index, residentMb(pid)])));
    await delay(totalMs * (1 - MEASURE_FROM));
    samples = memory.stop();
  }

  const services = fleet.organizations[0].services;
  const result = await loadAtShareOfCapacity({ server: proxy, services }, MINUTES, restartNodes);
  proxy.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  const name = `${MINUTES} minutes at ${formatThousands(result.perSecond)} requests/s with a rolling restart`;
  return [
    ...loadRows(name, result),
    ...Object.entries(samples).map(([index, values]) => growthRow(`${name}: memory of node ${index}`, values)),
  ];
}
