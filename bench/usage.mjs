// Metered usage: batches over HTTP compared with the same batches sent directly to an engine, and the rating of a day.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { openEngine } from './baseline-engine.mjs';
import { benchFleet, organizationId } from './fleet.mjs';
import { measureStores, nameStore } from './postgres-server.mjs';
import {
  authorization,
  base,
  directory,
  execute,
  figureRow,
  formatThousands,
  median,
  program,
  ratioRow,
  startServer,
} from './tools.mjs';

const BATCH_EVENTS = 10_000;
const CLIENTS = 6;
const BATCHES_PER_ROUND = 40;
const ROUNDS = 5;
/** Time for the engine to merge inserted parts before the other side is measured. */
const SETTLE_MS = 4000;
const FIRST_MS = Date.UTC(2026, 9, 1);
const DAYS = ['2026-10-01', '2026-10-02', '2026-10-03'];
const BATCHES_PER_DAY = 144;
/** The server's default on a machine with 24 GiB. */
const RATING_ENGINE_BYTES = 6 * 2 ** 30;

const fleet = benchFleet({ entities: 1000, days: 0 });
const { services } = fleet.organizations[0];

function startUsageServer(data, more = []) {
  const fleetFile = join(directory, 'usage.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
  return startServer(data, ['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'warn', ...more]);
}

/** One event per service and minute, in order of time. */
function createEvents(batch) {
  return Array.from({ length: BATCH_EVENTS }, (_, index) => {
    const number = batch * BATCH_EVENTS + index;
    const time = FIRST_MS + Math.floor(number / services.length) * 60_000;
    const { id } = services[number % services.length];
    return {
      id: `${id}-${time}`,
      source: 'bench-agent',
      time: new Date(time).toISOString(),
      entityType: 'service',
      entityId: id,
      meter: 'compute',
      quantity: 6 + (number % 7) / 4,
    };
  });
}

const toRow = ({ id, source, time, entityType, entityId, meter, quantity }) => ({
  OrganizationId: organizationId,
  EntityType: entityType,
  EntityId: entityId,
  Meter: meter,
  Time: time.slice(0, -1).replace('T', ' '),
  Source: source,
  Id: id,
  Quantity: quantity,
});

const formatLines = (rows) => Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));

async function post(server, body) {
  const response = await fetch(`${server.url}${base}/usageEvents`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    body,
  });
  const { result, error } = await response.json();
  if (result?.accepted !== BATCH_EVENTS) throw new Error(`unexpected response: ${error ?? JSON.stringify(result)}`);
}

/** Events per second from all clients. */
async function measureRate(batches, send) {
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < batches.length) await send(batches[next++]);
    }),
  );
  return (batches.length * BATCH_EVENTS) / ((performance.now() - startedAt) / 1000);
}

/** Durable and deduplicated intake, compared with the same rows sent directly to an engine. */
export const intakeRows = () => measureStores(measureIntake);

async function measureIntake(store, createStore) {
  const server = await startUsageServer(join(directory, `intake-${store}`), await createStore('intake'));
  const engine = await openEngine(join(directory, `baseline-engine-${store}`));
  const insert = (body) => engine.run('INSERT INTO pilothouse.usage_events FORMAT JSONEachRow', body);
  const rates = { ours: [], baseline: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const numbers = Array.from({ length: BATCHES_PER_ROUND }, (_, batch) => round * BATCHES_PER_ROUND + batch);
    const sent = numbers.map((batch) => formatLines(createEvents(batch)));
    const rows = numbers.map((batch) => formatLines(createEvents(batch).map(toRow)));
    const direct = await measureRate(rows, insert);
    await delay(SETTLE_MS);
    const through = await measureRate(sent, (body) => post(server, body));
    await delay(SETTLE_MS);
    // The first round warms up both sides.
    if (round === 0) continue;
    rates.ours.push(through);
    rates.baseline.push(direct);
  }
  await engine.close();
  await server.stop();
  const name = `POST …/usageEvents, batches of ${formatThousands(BATCH_EVENTS)}, ${CLIENTS} clients${nameStore(store)}: events`;
  const rate = median(rates.ours);
  return [
    ratioRow(name, rates, 'same rows directly into the engine', 0.5),
    figureRow(`${name}, absolute`, `${formatThousands(rate)}/s`, '≥ 100,000/s', rate >= 100_000),
  ];
}

const totalsQuery = (day) => `SELECT EntityType, EntityId, Meter, sum(Quantity) FROM pilothouse.usage_events FINAL
  WHERE OrganizationId = '${organizationId}' AND Time >= '${day} 00:00:00' AND Time < '${day} 00:00:00' + INTERVAL 1 DAY
  GROUP BY EntityType, EntityId, Meter`;

/** Days of 1,000 services with one event per minute, rated by a running server, compared with the queries alone on the same engine. */
export const ratingRows = () => measureStores(measureRating);

async function measureRating(store, createStore) {
  const data = join(directory, `rating-${store}`);
  const args = ['--data', data, ...(await createStore('rating'))];
  const engine = await openEngine(join(directory, `rating-engine-${store}`), RATING_ENGINE_BYTES);
  const server = await startUsageServer(data, ['--clickhouse-url', engine.url, ...args]);
  const batches = Array.from({ length: DAYS.length * BATCHES_PER_DAY }, (_, batch) => batch);
  await measureRate(batches, (batch) => post(server, formatLines(createEvents(batch))));
  const ours = [];
  const baseline = [];
  for (let round = 0; round <= ROUNDS; round++) {
    // A new price changes every entry of every day.
    await execute(process.execPath, [program, 'prices', 'set', writePrices(`0.${round + 1}1`), ...args]);
    const before = await readRatingFigures(server);
    while ((await readRatingFigures(server)).days < before.days + DAYS.length) await delay(500);
    const after = await readRatingFigures(server);
    const startedAt = performance.now();
    for (const day of DAYS) await engine.run(totalsQuery(day));
    // The first round warms up both sides.
    if (round === 0) continue;
    ours.push((after.ms - before.ms) / (after.days - before.days));
    baseline.push((performance.now() - startedAt) / DAYS.length);
  }
  await server.stop();
  await engine.close();
  const ratio = median(ours.map((ms, round) => ms / baseline[round]));
  return [
    {
      name: `rating a day of 1,000 services, 1.44 million events${nameStore(store)}`,
      ours: `${Math.round(median(ours))} ms`,
      baseline: `${Math.round(median(baseline))} ms, the GROUP BY query`,
      ratio: ratio.toFixed(2),
      goal: '≤ 1.5',
      isMet: ratio <= 1.5,
    },
  ];
}

async function readRatingFigures(server) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const figure = (name) =>
    Number(new RegExp(`^pilothouse_rating_day_seconds_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  return { days: figure('count'), ms: 1000 * figure('sum') };
}

const METERS = [
  'compute',
  'storage',
  'backup',
  'publicDataTransfer',
  'dataTransfer',
  'initialLoad',
  ...[1, 2, 3, 4].map((tier) => `interRegionTier${tier}DataTransfer`),
];

function writePrices(price) {
  const file = join(directory, 'prices.json');
  writeFileSync(file, JSON.stringify({ effectiveFrom: DAYS[0], prices: METERS.map((meter) => ({ meter, price })) }));
  return file;
}
