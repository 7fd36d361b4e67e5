// npm run bench -- soak: ten minutes of mixed load at 70 % of capacity. No request may fail, and memory must stay flat.
// SOAK_MINUTES shortens the run; SOAK_DATABASE_URL runs it on an empty PostgreSQL database.
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { benchFleet, dashboardId } from './fleet.mjs';
import {
  authorization,
  base,
  bearer,
  directory,
  figureRow,
  formatThousands,
  median,
  residentMb,
  startServer,
} from './tools.mjs';

export const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const CONNECTIONS = 16;
const CAPACITY_MS = 20_000;
const SHARE_OF_CAPACITY = 0.7;
const SAMPLE_MS = 2000;
const EVENTS_PER_BATCH = 100;
/** Caches fill and the engine starts during the first part of the run, which is not compared. */
const SETTLED_SHARE = 0.3;
const MAX_GROWTH = 1.1;

let batchNumber = 0;

function createBatch(services) {
  const batch = batchNumber++;
  return Array.from({ length: EVENTS_PER_BATCH }, (_, index) => ({
    id: `${batch}-${index}`,
    source: 'soak',
    time: new Date(Date.now() - 60_000).toISOString(),
    entityType: 'service',
    entityId: services[index % services.length].id,
    meter: 'compute',
    quantity: 1.5,
  }));
}

const dashboardHeaders = { authorization: bearer };

/** Each kind of request with its share of the load. */
const createMix = (services, pickService = () => services[Math.floor(Math.random() * services.length)].id) => [
  [50, () => ({ path: `${base}/services/${pickService()}` })],
  [
    15,
    () => ({
      method: 'PATCH',
      path: `${base}/services/${pickService()}/scaling`,
      body: { idleTimeoutMinutes: 5 + Math.floor(Math.random() * 1000) },
    }),
  ],
  [12, () => ({ path: `${base}/usageCost?from_date=2026-10-01&to_date=2026-10-31` })],
  [10, () => ({ path: `/api/v2/dashboards/${dashboardId}`, headers: dashboardHeaders })],
  [5, () => ({ method: 'POST', path: `${base}/usageEvents`, body: createBatch(services) })],
  [4, () => ({ path: `${base}/activities?limit=50` })],
  [2, () => ({ path: '/api/v2/dashboards', headers: dashboardHeaders })],
  [1, () => ({ path: '/metrics' })],
  [1, createChart],
];

function createChart() {
  const now = Date.now();
  const body = {
    startTime: now - 3_600_000,
    endTime: now,
    granularity: '1m',
    series: [{ sourceId: 'logs', aggFn: 'count', where: '', groupBy: [] }],
  };
  return { method: 'POST', path: '/api/v2/charts/series', body, headers: dashboardHeaders };
}

function pickRequest(mix) {
  let left = Math.random() * 100;
  for (const [share, create] of mix) {
    left -= share;
    if (left < 0) return create();
  }
  return mix[0][1]();
}

function send(server, agent, { method = 'GET', path, body, headers = { authorization } }) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      server.url + path,
      { method, agent, headers: text ? { ...headers, 'content-type': 'application/json' } : headers },
      (response) => {
        response.resume();
        response.on('error', reject);
        response.on('end', () =>
          response.statusCode < 400
            ? resolve()
            : reject(new Error(`${method} ${path} responded with ${response.statusCode}`)),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}

/** Sends requests for a while, as fast as possible or at a rate. Returns the number of requests, latencies and errors. */
async function load({ server, services }, durationMs, perSecond) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const endAt = performance.now() + durationMs;
  const pauseMs = perSecond ? (CONNECTIONS * 1000) / perSecond : 0;
  const mix = createMix(services);
  const latencies = [];
  const errors = [];
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let at = performance.now(); at < endAt; at = performance.now()) {
        await send(server, agent, pickRequest(mix)).catch((error) => errors.push(error.message));
        const tookMs = performance.now() - at;
        latencies.push(tookMs);
        if (pauseMs > tookMs) await delay(pauseMs - tookMs);
      }
    }),
  );
  agent.destroy();
  return { requests: latencies.length, latencies: latencies.sort((a, b) => a - b), errors };
}

export const listChildren = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** Calls `read` regularly; it returns the memory of each process by name. */
export function sampleMemory(read) {
  const samples = {};
  const timer = setInterval(() => {
    for (const [name, megabytes] of Object.entries(read())) {
      samples[name] ??= [];
      samples[name].push(megabytes);
    }
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}

/** Compares the median of the first settled samples with that of the last ones. */
export function growthRow(name, samples) {
  const settled = samples.slice(Math.floor(samples.length * SETTLED_SHARE));
  const part = Math.max(1, Math.floor(settled.length / 4));
  const first = median(settled.slice(0, part));
  const last = median(settled.slice(-part));
  return figureRow(
    name,
    `${first} MB, then ${last} MB`,
    `growth ≤ ${Math.round((MAX_GROWTH - 1) * 100)} %`,
    last <= first * MAX_GROWTH,
  );
}

/** Measures the capacity, then sends 70 % of it. `during` runs next to the load. */
export async function loadAtShareOfCapacity(target, minutes, during = async () => {}) {
  const capacity = await load(target, CAPACITY_MS);
  const perSecond = (SHARE_OF_CAPACITY * capacity.requests * 1000) / CAPACITY_MS;
  const [result] = await Promise.all([load(target, minutes * 60_000, perSecond), during()]);
  const errors = [...capacity.errors, ...result.errors];
  for (const text of new Set(errors.slice(0, 10))) console.error(text);
  return { ...result, errors, perSecond };
}

/** The rows of a result. */
export const loadRows = (name, { requests, latencies, errors }) => [
  figureRow(`${name}: failed requests`, `${errors.length} of ${formatThousands(requests)}`, '0', errors.length === 0),
  figureRow(`${name}: p99`, `${latencies[Math.floor(latencies.length * 0.99)].toFixed(1)} ms`, '', true),
];

export async function soakRows() {
  const fleet = benchFleet({ entities: 100, days: 31 });
  const fleetFile = join(directory, 'soak.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const databaseUrl = process.env.SOAK_DATABASE_URL;
  const server = await startServer(join(directory, 'soak'), [
    '--fleet',
    fleetFile,
    '--rate-limit',
    'off',
    ...(databaseUrl ? ['--database-url', databaseUrl] : []),
  ]);
  const { pid } = server;
  let samples;
  const result = await loadAtShareOfCapacity(
    { server, services: fleet.organizations[0].services },
    MINUTES,
    async () => {
      const memory = sampleMemory(() => ({
        server: residentMb(pid),
        engine: listChildren(pid).reduce((sum, child) => sum + residentMb(child), 0),
      }));
      await delay(MINUTES * 60_000);
      samples = memory.stop();
    },
  );
  await server.stop();
  const name = `${MINUTES} minutes of mixed load at ${formatThousands(result.perSecond)} requests/s, ${databaseUrl ? 'PostgreSQL' : 'libSQL'}`;
  return [
    ...loadRows(name, result),
    growthRow(`${name}: memory of the server`, samples.server),
    growthRow(`${name}: memory of the engine`, samples.engine),
  ];
}
