// Metered usage: batches over HTTP beside the same batches straight into the same engine, and a day of them rated.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { benchFleet, organizationId } from './fleet.mjs';
import { openBareEngine } from './floor-engine.mjs';
import {
  authorization,
  base,
  directory,
  execute,
  measured,
  median,
  program,
  ratioRow,
  startServer,
  thousands,
} from './tools.mjs';

const BATCH = 10_000;
/** How many clients send batches. */
const AT_ONCE = 6;
const BATCHES_PER_ROUND = 40;
const ROUNDS = 5;
/** An engine goes on merging what it was given; the other must not be measured meanwhile. */
const SETTLE_MS = 4000;
const FIRST_MS = Date.UTC(2026, 9, 1);
const DAYS = ['2026-10-01', '2026-10-02', '2026-10-03'];
const BATCHES_OF_DAY = 144;
/** What the server gives its own engine on a machine of 24 GiB. */
const RATING_ENGINE_BYTES = 6 * 2 ** 30;

const fleet = benchFleet({ entities: 1000, days: 0 });
const { services } = fleet.organizations[0];

function usageServer(data, more = []) {
  const fleetFile = join(directory, 'usage.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
  return startServer(data, ['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'warn', ...more]);
}

/** One event a minute of each service, in the order in which they happen. */
function events(batch) {
  return Array.from({ length: BATCH }, (_, index) => {
    const number = batch * BATCH + index;
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

const asRow = ({ id, source, time, entityType, entityId, meter, quantity }) => ({
  OrganizationId: organizationId,
  EntityType: entityType,
  EntityId: entityId,
  Meter: meter,
  Time: time.slice(0, -1).replace('T', ' '),
  Source: source,
  Id: id,
  Quantity: quantity,
});

const lines = (rows) => Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));

async function post(server, body) {
  const answer = await fetch(`${server.url}${base}/usageEvents`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    body,
  });
  const { result, error } = await answer.json();
  if (result?.accepted !== BATCH) throw new Error(`the server answered ${error ?? JSON.stringify(result)}`);
}

/** Events a second, from several clients at once. */
async function pace(batches, send) {
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < batches.length) await send(batches[next++]);
    }),
  );
  return (batches.length * BATCH) / ((performance.now() - startedAt) / 1000);
}

/** Durable, counted once, beside the same rows straight into the same engine. */
export async function intakeRows() {
  const server = await usageServer(join(directory, 'intake'));
  const engine = await openBareEngine(join(directory, 'bare-engine'));
  const insert = (body) => engine.run('INSERT INTO pilothouse.usage_events FORMAT JSONEachRow', body);
  const rates = { ours: [], floor: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const numbers = Array.from({ length: BATCHES_PER_ROUND }, (_, batch) => round * BATCHES_PER_ROUND + batch);
    const sent = numbers.map((batch) => lines(events(batch)));
    const rows = numbers.map((batch) => lines(events(batch).map(asRow)));
    const direct = await pace(rows, insert);
    await delay(SETTLE_MS);
    const through = await pace(sent, (body) => post(server, body));
    await delay(SETTLE_MS);
    // The first round warms both of them up.
    if (round === 0) continue;
    rates.ours.push(through);
    rates.floor.push(direct);
  }
  await engine.close();
  await server.stop();
  const name = `POST …/usageEvents, lines of ${thousands(BATCH)}, ${AT_ONCE} clients: events`;
  const rate = median(rates.ours);
  return [
    ratioRow(name, rates, 'the same rows into the engine', 0.5),
    measured(`${name}, alone`, `${thousands(rate)}/s`, '≥ 100,000/s', rate >= 100_000),
  ];
}

const bareTotals = (day) => `SELECT EntityType, EntityId, Meter, sum(Quantity) FROM pilothouse.usage_events FINAL
  WHERE OrganizationId = '${organizationId}' AND Time >= '${day} 00:00:00' AND Time < '${day} 00:00:00' + INTERVAL 1 DAY
  GROUP BY EntityType, EntityId, Meter`;

/** Days of 1,000 services at one event a minute, rated by a running server, beside the bare statements on the same engine. */
export async function ratingRows() {
  const data = join(directory, 'rating');
  const engine = await openBareEngine(join(directory, 'rating-engine'), RATING_ENGINE_BYTES);
  const server = await usageServer(data, ['--clickhouse-url', engine.url]);
  const batches = Array.from({ length: DAYS.length * BATCHES_OF_DAY }, (_, batch) => batch);
  await pace(batches, (batch) => post(server, lines(events(batch))));
  const ours = [];
  const bare = [];
  for (let round = 0; round <= ROUNDS; round++) {
    // A new price makes every entry of every day change.
    await execute(process.execPath, [program, 'prices', 'set', writePrices(`0.${round + 1}1`), '--data', data]);
    const before = await ratedBy(server);
    while ((await ratedBy(server)).days < before.days + DAYS.length) await delay(500);
    const after = await ratedBy(server);
    const startedAt = performance.now();
    for (const day of DAYS) await engine.run(bareTotals(day));
    // The first round warms both of them up.
    if (round === 0) continue;
    ours.push((after.ms - before.ms) / (after.days - before.days));
    bare.push((performance.now() - startedAt) / DAYS.length);
  }
  await server.stop();
  await engine.close();
  const ratio = median(ours.map((ms, round) => ms / bare[round]));
  return [
    {
      name: 'rating a day of 1,000 services, 1.44 million events',
      ours: `${Math.round(median(ours))} ms`,
      floor: `${Math.round(median(bare))} ms, the bare GROUP BY`,
      ratio: ratio.toFixed(2),
      goal: '≤ 1.5',
      isReached: ratio <= 1.5,
    },
  ];
}

async function ratedBy(server) {
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
