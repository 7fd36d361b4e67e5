// Metered usage: batches over HTTP beside the same batches straight into the same engine.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { benchFleet, organizationId } from './fleet.mjs';
import { openBareEngine } from './floor-engine.mjs';

export const BATCH = 10_000;
const FIRST_MS = Date.UTC(2026, 9, 1);

export const usageFleet = () => {
  const fleet = benchFleet({ entities: 1000, days: 0 });
  return fleet;
};

/** One event a minute of each service, in the order in which they happen. */
export function events(batch, services) {
  return Array.from({ length: BATCH }, (_, index) => {
    const number = batch * BATCH + index;
    const time = FIRST_MS + Math.floor(number / services.length) * 60_000;
    return {
      id: `${services[number % services.length].id}-${time}`,
      source: 'bench-agent',
      time: new Date(time).toISOString(),
      entityType: 'service',
      entityId: services[number % services.length].id,
      meter: 'compute',
      quantity: 6 + (number % 7) / 4,
    };
  });
}

export const asRow = ({ id, source, time, entityType, entityId, meter, quantity }) => ({
  OrganizationId: organizationId,
  EntityType: entityType,
  EntityId: entityId,
  Meter: meter,
  Time: time.slice(0, -1).replace('T', ' '),
  Source: source,
  Id: id,
  Quantity: quantity,
});

export const lines = (rows) => Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));

/** How many clients send batches. */
export const AT_ONCE = 6;
/** An engine goes on merging what it was given; the other must not be measured meanwhile. */
const SETTLE_MS = 4000;

/** Events a second over `batches`, some at a time. */
async function pace(batches, atOnce, send) {
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < batches.length) await send(batches[next++]);
    }),
  );
  return (batches.length * BATCH) / ((performance.now() - startedAt) / 1000);
}

export async function measureIntake({ server, authorization, directory, rounds, batchesPerRound }) {
  const { services } = usageFleet().organizations[0];
  const engine = await openBareEngine(directory);
  const insert = (body) => engine.run('INSERT INTO pilothouse.usage_events FORMAT JSONEachRow', body);
  const post = async (body) => {
    const answer = await fetch(`${server.url}/v1/organizations/${organizationId}/usageEvents`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-ndjson' },
      body,
    });
    const { result, error } = await answer.json();
    if (result?.accepted !== BATCH) throw new Error(`the server answered ${error ?? JSON.stringify(result)}`);
  };
  const rates = { ours: [], floor: [] };
  try {
    for (let round = 0; round <= rounds; round++) {
      const of = (form) =>
        Array.from({ length: batchesPerRound }, (_, batch) =>
          lines(events(round * batchesPerRound + batch, services).map(form)),
        );
      const sent = of((event) => event);
      const rows = of(asRow);
      const direct = await pace(rows, AT_ONCE, insert);
      await delay(SETTLE_MS);
      const through = await pace(sent, AT_ONCE, post);
      await delay(SETTLE_MS);
      // The first round warms both of them up.
      if (round === 0) continue;
      rates.ours.push(through);
      rates.floor.push(direct);
    }
  } finally {
    await engine.close();
  }
  return rates;
}

const DAY = '2026-10-01';
const BARE = `SELECT EntityType, EntityId, Meter, sum(Quantity) FROM pilothouse.usage_events FINAL
  WHERE OrganizationId = '${organizationId}' AND Time >= '${DAY} 00:00:00' AND Time < '2026-10-02 00:00:00'
  GROUP BY EntityType, EntityId, Meter`;

/** Milliseconds to rate a day of 1,000 services at one event a minute, beside the bare statement on the same directory. */
export async function measureRating({ startServer, authorization, directory, rounds, pilothouse, writePrices }) {
  const { services } = usageFleet().organizations[0];
  const server = await startServer();
  const headers = { authorization, 'content-type': 'application/x-ndjson' };
  const url = `${server.url}/v1/organizations/${organizationId}/usageEvents`;
  const batches = Array.from({ length: 144 }, (_, batch) => batch);
  await pace(batches, 3, async (batch) => {
    const answer = await fetch(url, { method: 'POST', headers, body: lines(events(batch, services)) });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
  });
  await server.stop();
  const ours = [];
  const bare = [];
  for (let round = 0; round < rounds; round++) {
    // A new price makes every entry of the day change.
    await pilothouse('prices', 'set', writePrices(DAY, round));
    const { entries, ms } = JSON.parse(await pilothouse('usage', 'rate', '--json'));
    if (entries !== services.length) throw new Error(`${entries} entries were rated`);
    ours.push(ms);
    const engine = await openBareEngine(directory);
    const startedAt = performance.now();
    await engine.run(BARE);
    bare.push(performance.now() - startedAt);
    await engine.close();
  }
  return { ours, bare };
}
