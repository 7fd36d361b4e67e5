// Large cost responses: a month of a thousand services, and an export of a year.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchFleet } from './fleet.mjs';
import { measureStores, nameStore } from './postgres-server.mjs';
import { readRow } from './requests.mjs';
import {
  base,
  directory,
  download,
  execute,
  figureRow,
  median,
  program,
  ROUNDS,
  startServer,
  watchMemory,
} from './tools.mjs';

/** A large response must start immediately, and memory must not grow with its size. */
export const largeRows = () => measureStores(measureLarge);

async function measureLarge(store, createStore) {
  const args = await createStore('large');
  const fleetFile = join(directory, 'large.json');
  writeFileSync(fleetFile, JSON.stringify(benchFleet({ entities: 1000, days: 31 })));
  const data = join(directory, `large-${store}`);
  const path = `${base}/usageCost?from_date=2026-10-01&to_date=2026-10-31`;
  const firstBytes = [];
  let server;
  for (let round = 0; round < ROUNDS; round++) {
    // A new server each time: the second response of a server is cached.
    await server?.stop();
    server = await startServer(data, [...(round === 0 ? ['--fleet', fleetFile] : []), '--rate-limit', 'off', ...args]);
    await download(server, base);
    firstBytes.push((await download(server, path)).firstByteMs);
  }
  const { bytes } = await download(server, path);
  const megabytes = bytes / 1e6;
  const firstByteMs = median(firstBytes);
  const watch = watchMemory(server.pid);
  for (let round = 0; round < 10; round++) await Promise.all([download(server, path), download(server, path)]);
  const extraMb = watch.stop();
  const name = `GET …/usageCost, 31,000 records (${megabytes.toFixed(1)} MB)${nameStore(store)}`;
  const rows = [
    figureRow(`${name}: time to first byte, uncached`, `${Math.round(firstByteMs)} ms`, '< 100 ms', firstByteMs < 100),
    await readRow(server, `${name}, 4 connections`, path, 0.5, { connections: 4 }),
    figureRow(
      `${name}, two at a time: additional memory`,
      `${extraMb} MB`,
      `< ${Math.round(2 * megabytes)} MB`,
      extraMb < 2 * megabytes,
    ),
  ];
  await server.stop();
  return rows;
}

/** An export of a year of 1,000 services with quantities and prices. */
export const exportRows = () => measureStores(measureExport);

async function measureExport(store, createStore) {
  const args = await createStore('year');
  const fleetFile = join(directory, 'year.json');
  writeFileSync(fleetFile, JSON.stringify(benchFleet({ entities: 1000, days: 0 })));
  const data = join(directory, `year-${store}`);
  await (await startServer(data, ['--fleet', fleetFile])).stop();
  await execute(process.execPath, [join(import.meta.dirname, 'year.mjs'), data]);
  if (args.length > 0) await execute(process.execPath, [program, 'move', '--data', data, '--to', args[1]]);
  const server = await startServer(data, ['--rate-limit', 'off', ...args]);
  const path = `${base}/usageCost/export?from_date=2026-01-01&to_date=2026-12-31&format=focus`;
  await download(server, base);
  const watch = watchMemory(server.pid);
  const rates = [];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const file = await download(server, path);
    bytes = file.bytes;
    rates.push(bytes / 1e3 / file.ms);
  }
  const extraMb = watch.stop();
  await server.stop();
  const rate = median(rates);
  const name = `GET …/usageCost/export, FOCUS, a year of 1,000 services (${Math.round(bytes / 1e6)} MB)${nameStore(store)}`;
  return [
    figureRow(name, `${rate.toFixed(0)} MB/s`, '≥ 30 MB/s', rate >= 30),
    figureRow(`${name}: additional memory`, `${extraMb} MB`, '< 100 MB', extraMb < 100),
  ];
}
