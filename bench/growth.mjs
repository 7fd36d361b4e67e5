// npm run bench -- growth: the same requests to a small and to a large store, alternately, on both stores.
// BENCH_GROWTH_AUDIT sets the number of activities (10,000,000 takes several GB and minutes).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { key, organizationId, token } from './fleet.mjs';
import { openRows } from './growth-rows.mjs';
import { measureStores } from './postgres-server.mjs';
import {
  base,
  bearer,
  directory,
  figureRow,
  formatRequest,
  formatThousands,
  median,
  residentMb,
  runLoad,
  startServer,
} from './tools.mjs';

const AUDIT = Number(process.env.BENCH_GROWTH_AUDIT ?? 1_000_000);
const SMALL = { services: 100, keys: 100, dashboards: 10, activities: 10_000, days: 31, organizations: 1 };
const LARGE = {
  services: Number(process.env.BENCH_GROWTH_SERVICES ?? 100_000),
  keys: Number(process.env.BENCH_GROWTH_KEYS ?? 100_000),
  dashboards: Number(process.env.BENCH_GROWTH_DASHBOARDS ?? 10_000),
  activities: AUDIT,
  days: 365,
  organizations: 100,
};
const MAX_COST = 1.3;
const MAX_START_MS = 2000;
const CONNECTIONS = 8;

const createId = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const SERVICE = createId(1000);
const DASHBOARD = 'growth-000000000000';

/** One of each; `openRows` multiplies them. */
const fleet = {
  organizations: [
    {
      id: organizationId,
      name: 'Growth',
      tier: 'SCALE',
      paid: true,
      services: [{ id: SERVICE, name: 'service', numReplicas: 3 }],
      keys: [{ name: 'bench', ...key, roles: ['admin'] }],
      dashboardTokens: [{ name: 'bench', token, access: 'write' }],
      dashboards: [
        {
          id: DASHBOARD,
          name: 'Dashboard',
          tags: [],
          tiles: [{ name: 'T', x: 0, y: 0, w: 6, h: 3, series: [{ type: 'markdown', content: 'text '.repeat(50) }] }],
        },
      ],
      usageCosts: Array.from({ length: 100 }, (_, index) => ({
        date: '2026-10-15',
        entityType: 'service',
        entityId: createId(5000 + index),
        dataWarehouseId: createId(7000 + index),
        locked: true,
        metrics: { computeCHC: 1.5 + index },
      })),
    },
  ],
};

/** Requests of one measurement: more rows than the server caches. In a small store, rows repeat. */
const REQUESTS = 20_000;

/** Numbers from 1 to `count`, from the whole range, in an order without a pattern. */
function pick(count) {
  const picked = Array.from({ length: REQUESTS }, (_, index) =>
    count > REQUESTS ? 1 + Math.floor((index * count) / REQUESTS) : 1 + (index % count),
  );
  let seed = 1;
  for (let last = picked.length - 1; last > 0; last--) {
    seed = (seed * 48271) % 2147483647;
    const other = seed % (last + 1);
    [picked[last], picked[other]] = [picked[other], picked[last]];
  }
  return picked;
}

/** Each number with how often it came before. */
function withTurns(numbers) {
  const turns = new Map();
  return numbers.map((number) => {
    const turn = turns.get(number) ?? 0;
    turns.set(number, turn + 1);
    return [number, turn];
  });
}

/** Commits of other clients, which empty every cache of rows. */
const COMMITS_PER_SECOND = 100;

/** The requests of an operation, for a store of a size. */
const OPERATIONS = {
  'GET …/services/{id}': ({ services }) =>
    pick(services).map((number) => formatRequest('GET', `${base}/services/${toServiceId(number)}`)),
  // Each request changes the number: consecutive ones of a service differ.
  'PATCH …/scaling': ({ services }) =>
    withTurns(pick(services)).map(([number, turn]) =>
      formatRequest('PATCH', `${base}/services/${toServiceId(number)}/scaling`, { numReplicas: 4 + (turn % 2) }),
    ),
  'GET …/services?limit=100': () => [formatRequest('GET', `${base}/services?limit=100`)],
  'GET …/keys?limit=100': () => [formatRequest('GET', `${base}/keys?limit=100`)],
  'POST …/keys': () => [formatRequest('POST', `${base}/keys`, { name: 'new', roles: ['developer'] })],
  'GET …/activities?limit=100': () => [formatRequest('GET', `${base}/activities?limit=100`)],
  'GET …/usageCost of a day': () => [formatRequest('GET', `${base}/usageCost?from_date=2026-10-15&to_date=2026-10-15`)],
  'GET /api/v2/dashboards/{id}': ({ dashboards }) =>
    pick(dashboards - 1).map((number) =>
      formatRequest('GET', `/api/v2/dashboards/growth-${pad(number)}`, undefined, { authorization: bearer }),
    ),
  // Each request changes the name.
  'PUT /api/v2/dashboards/{id}': ({ dashboards }) =>
    pick(dashboards - 1).map((number, index) =>
      formatRequest(
        'PUT',
        `/api/v2/dashboards/growth-${pad(number)}`,
        { name: `name ${index}`, tags: [], tiles: [] },
        { authorization: bearer },
      ),
    ),
  'POST …/usageEvents of one event': ({ services }) =>
    pick(services).map((number, index) => formatRequest('POST', `${base}/usageEvents`, [createEvent(number, index)])),
};

const createEvent = (number, index) => ({
  id: `event-${index}`,
  source: 'bench',
  time: '2026-10-20T12:00:00Z',
  entityType: 'service',
  entityId: toServiceId(number),
  meter: 'compute',
  quantity: '1',
});

const pad = (number) => String(number).padStart(12, '0');
const toServiceId = (number) => `00000000-0000-4000-9000-${pad(number)}`;

export const growthRows = () => measureStores(storeRows);

async function storeRows(store, createStore) {
  const small = await startFilled('small', store, SMALL, await createStore('small'));
  const large = await startFilled('large', store, LARGE, await createStore('large'));
  const rows = [];
  const { 'PATCH …/scaling': toChanges, 'GET …/services/{id}': toReads } = OPERATIONS;
  const measurements = [
    ...Object.entries(OPERATIONS).map(([name, toRequests]) => ({ name, toRequests })),
    { name: `GET …/services/{id} during ${COMMITS_PER_SECOND} commits/s`, toRequests: toReads, toCommits: toChanges },
  ];
  for (const { name, toRequests, toCommits } of measurements) {
    const target = (server, size) => ({
      port: server.port,
      connections: CONNECTIONS,
      requests: toRequests(size),
      ...(toCommits && {
        beside: {
          port: server.port,
          connections: 2,
          requests: toCommits(size),
          expected: '200',
          perSecond: COMMITS_PER_SECOND,
        },
      }),
    });
    const [before, after] = await runLoad([target(small, SMALL), target(large, LARGE)]);
    const cost = median(before.perSecond.map((rate, slice) => rate / after.perSecond[slice]));
    rows.push({
      name: `${name}, ${store}`,
      ours: `${formatThousands(median(after.perSecond))}/s`,
      baseline: `${formatThousands(median(before.perSecond))}/s, small`,
      ratio: `${cost.toFixed(2)} × the cost`,
      goal: `≤ ${MAX_COST}`,
      isMet: cost <= MAX_COST,
    });
    console.error(`${rows.at(-1).name}: ${rows.at(-1).ratio}`);
  }
  const [smallMb, largeMb] = [residentMb(small.pid), residentMb(large.pid)];
  rows.push(
    figureRow(
      `start of the large store, ${store}`,
      `${Math.round(large.readyMs)} ms`,
      `< ${formatThousands(MAX_START_MS)} ms`,
      large.readyMs < MAX_START_MS,
    ),
    figureRow(
      `memory of the server after these requests, ${store}`,
      `${largeMb} MB (small: ${smallMb} MB)`,
      `≤ ${MAX_COST} ×`,
      largeMb <= smallMb * MAX_COST,
    ),
  );
  await Promise.all([small.stop(), large.stop()]);
  return rows;
}

/** Starts a server with the fleet, adds rows while it is stopped, and starts it again. */
async function startFilled(name, store, size, args) {
  const data = join(directory, `growth-${store}-${name}`);
  const fleetFile = join(directory, 'growth.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const settings =
    '--rate-limit off --max-keys 1000000 --max-dashboards 100000 --log-level error --telemetry off'.split(' ');
  const first = await startServer(data, ['--fleet', fleetFile, ...settings, ...args]);
  await first.stop();
  const rows = await openRows(data, args[1]);
  await rows.fill(size, { organizationId, serviceId: SERVICE, dashboardId: DASHBOARD });
  await rows.close();
  const server = await startServer(data, [...settings, ...args]);
  await delay(1000);
  return server;
}

export const describeGrowth = () => {
  const describe = ({ services, keys, dashboards, activities, days, organizations }) =>
    `${formatThousands(services)} services and ${formatThousands(keys)} keys, ${formatThousands(dashboards)} dashboards and ${formatThousands(activities)} activities of one organization, ${formatThousands(days)} days of costs, and ${formatThousands(organizations * 1000)} services in other organizations`;
  return `Written by \`npm run bench -- growth\`. Small: ${describe(SMALL)}. Large: ${describe(LARGE)}. Both are loaded
alternately; the ratio is the cost of a request in the large store compared with the small one.`;
};
