// Lists of 100,000 services compared with lists of 1,000, and applying fleet files of growing size, on both stores.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { measureStores } from './postgres-server.mjs';
import { directory, execute, figureRow, formatThousands, median, program, startServer, watchMemory } from './tools.mjs';

const LARGE = Number(process.env.BENCH_LIST_SERVICES ?? 100_000);
const SMALL = 1000;
const SIZES = [4000, 8000, LARGE];
const PAGES = [100, 1000];
const PAIRS = 60;
const MAX_OUTPUT_BYTES = 1024 ** 3;

const createId = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const large = createOrganization(1, LARGE);
const small = createOrganization(2, SMALL);

function createOrganization(number, count) {
  const key = { keyId: `BenchListKey00000000${number}`.slice(-20), keySecret: `bench-list-secret-${number}` };
  const services = Array.from({ length: count }, (_, index) => ({
    id: createId(number * 1_000_000 + index),
    name: `service-${String(index).padStart(6, '0')}`,
    numReplicas: 3,
    endpoints: [{ protocol: 'https', host: `service-${index}.bench.internal`, port: 8443 }],
    ipAccessList: [{ source: '10.0.0.0/8', description: 'Office' }],
    tags: [
      { key: 'team', value: `team-${index % 100}` },
      // Two services have this tag.
      ...(index % (count / 2) === 7 ? [{ key: 'canary', value: 'yes' }] : []),
    ],
  }));
  return { id: createId(number), name: `Bench ${number}`, key, services };
}

const toFleet = (organizations) => ({
  organizations: organizations.map(({ id, name, key, services }) => ({
    id,
    name,
    tier: 'SCALE',
    paid: true,
    services,
    keys: [{ name: 'bench', ...key, roles: ['admin'] }],
  })),
});

export const listRows = () => measureStores(storeRows);

async function storeRows(store, createStore) {
  const rows = [];
  let perService;
  for (const size of SIZES) {
    const seconds = await measureApply(store, size, await createStore(`apply_${size}`));
    perService ??= seconds / size;
    const goal = perService * size * 1.5;
    rows.push(
      figureRow(
        `apply of ${formatThousands(size)} services, ${store}`,
        `${seconds.toFixed(1)} s`,
        size === SIZES[0] ? '' : `< ${goal.toFixed(1)} s, 1.5 × linear`,
        seconds <= goal,
      ),
    );
  }
  return [...rows, ...(await pageRows(store, await createStore('pages')))];
}

/** Without the time that the program needs to start. */
async function measureApply(store, size, args) {
  const file = join(directory, `apply-${size}.json`);
  writeFileSync(file, JSON.stringify(toFleet([{ ...large, services: large.services.slice(0, size) }])));
  const run = async (...given) => {
    const startedAt = performance.now();
    await execute(process.execPath, [program, ...given], { maxBuffer: MAX_OUTPUT_BYTES });
    return (performance.now() - startedAt) / 1000;
  };
  const startSeconds = await run('--version');
  const data = join(directory, `apply-${store}-${size}`);
  return (await run('apply', file, '--data', data, '--log-level', 'warn', ...args)) - startSeconds;
}

async function pageRows(store, args) {
  const file = join(directory, 'lists.json');
  writeFileSync(file, JSON.stringify(toFleet([large, small])));
  const server = await startServer(join(directory, `lists-${store}`), [
    '--fleet',
    file,
    '--rate-limit',
    'off',
    '--log-level',
    'warn',
    ...args,
  ]);
  const rows = [];
  for (const size of PAGES) {
    const page = `page of ${formatThousands(size)}`;
    rows.push(await pageRow(server, `first ${page}, ${store}`, `limit=${size}`));
    rows.push(await pageRow(server, `first ${page} by name, ${store}`, `limit=${size}&sort=name`));
  }
  const [size] = PAGES;
  rows.push(await pageRow(server, `page of ${size} in the middle, ${store}`, `limit=${size}`, true));
  rows.push(await memoryRow(server, store));
  const last = (round) => `sort=name&search=${LARGE - 1 - round}`;
  rows.push(await searchRow(server, store, 'search=…, one match', last, 1));
  // As many services of both organizations: 1 % of the small one are 10.
  for (const [name, query] of [
    ['filter=tag:…, two matches', 'filter=tag:canary'],
    ['filter=tag:…=…, 1 % match, page of 10', 'limit=10&filter=tag:team=team-7'],
    ['filter=tag:…=…, no match', 'filter=tag:team=team-x'],
    [`filter=tag:…, all match, page of ${size} by name`, `limit=${size}&sort=name&filter=tag:team`],
    ['two filters, two matches', 'filter=tag:team&filter=tag:canary=yes'],
  ])
    rows.push(await pageRow(server, `${name}, ${store}`, query));
  await server.stop();
  return rows;
}

async function readPage(server, { id, key }, query) {
  const authorization = `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`;
  const startedAt = performance.now();
  const response = await fetch(`${server.url}/v1/organizations/${id}/services?${query}`, {
    headers: { authorization },
  });
  const body = await response.json();
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return { ms: performance.now() - startedAt, ...body };
}

async function findMiddle(server, organization) {
  let cursor = '';
  for (let read = 0; read < organization.services.length / 2; read += 1000)
    cursor = `&cursor=${(await readPage(server, organization, `limit=500${cursor}`)).nextCursor}`;
  return cursor;
}

/** Pages of both organizations alternately: a slow moment of the machine affects both. */
async function pageRow(server, name, query, isInMiddle = false) {
  const at = new Map();
  for (const organization of [large, small])
    at.set(organization, `${query}${isInMiddle ? await findMiddle(server, organization) : ''}`);
  const ratios = [];
  const times = { large: [], small: [] };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const { ms: largeMs } = await readPage(server, large, at.get(large));
    const { ms: smallMs } = await readPage(server, small, at.get(small));
    times.large.push(largeMs);
    times.small.push(smallMs);
    ratios.push(largeMs / smallMs);
  }
  const ratio = median(ratios);
  return {
    name: `GET …/services, ${formatThousands(LARGE)} services, ${name}`,
    ours: `${median(times.large).toFixed(1)} ms`,
    baseline: `${median(times.small).toFixed(1)} ms, ${formatThousands(SMALL)} services`,
    ratio: ratio.toFixed(2),
    goal: '≤ 1.3',
    isMet: ratio <= 1.3,
  };
}

/** Reads everything once to warm up, then again. */
async function memoryRow(server, store) {
  const readAll = async () => {
    for (let cursor = ''; cursor !== null; ) {
      const { nextCursor } = await readPage(server, large, `limit=1000${cursor}`);
      cursor = nextCursor && `&cursor=${nextCursor}`;
    }
  };
  await readAll();
  const memory = watchMemory(server.pid);
  await readAll();
  const megabytes = memory.stop();
  return figureRow(
    `GET …/services, all ${formatThousands(LARGE)} services in pages of 1,000: additional memory, ${store}`,
    `${megabytes} MB`,
    '< 50 MB',
    megabytes < 50,
  );
}

/** A page of 1,000 with the services that match. */
async function searchRow(server, store, name, toQuery, count) {
  const times = [];
  for (let round = 0; round < 10; round += 1) {
    const { ms, result } = await readPage(server, large, `limit=1000&${toQuery(round)}`);
    if (result.length !== Math.min(count, 1000)) throw new Error(`${name}: ${result.length} services`);
    times.push(ms);
  }
  const ms = median(times);
  return figureRow(
    `GET …/services?${name} among ${formatThousands(LARGE)}, ${store}`,
    `${ms.toFixed(0)} ms`,
    '< 500 ms',
    ms < 500,
  );
}
