// The autoscaler over 90 days of simulated load of 10,000 services, minute by minute, on all processors. The baseline only
// simulates the load. Other programs on the machine make the time longer; they affect the CPU time less.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const SERVICES = Number(process.env.BENCH_SERVICES ?? 10_000);
const DAYS = 90;
const START_MINUTE = Date.UTC(2026, 7, 1) / 60_000;
const GOAL_SECONDS = 15;
const LIMITS = { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 3, maxReplicas: 3 };

if (!isMainThread) parentPort.postMessage(await runShare(workerData));

export async function autoscaleRows() {
  const { formatThousands } = await import('./tools.mjs');
  const urls = await buildReplay();
  const threads = availableParallelism();
  const startedAt = performance.now();
  const cpuAtStart = process.cpuUsage();
  const shares = await Promise.all(
    Array.from({ length: threads }, (_, first) => runInWorker({ urls, first, step: threads })),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuAtStart);
  const sum = (name) => shares.reduce((total, share) => total + share[name], 0);
  const changes = formatThousands(sum('changes'));
  return [
    {
      name: `autoscaler, ${formatThousands(SERVICES)} services × ${DAYS} days by minute, ${changes} changes`,
      ours: `${seconds.toFixed(1)} s with ${threads} threads, ${((user + system) / 1e6).toFixed(1)} s of CPU`,
      baseline: `${(sum('baselineMs') / threads / 1000).toFixed(1)} s, simulating the load`,
      ratio: (sum('oursMs') / sum('baselineMs')).toFixed(2),
      goal: `< ${GOAL_SECONDS} s`,
      isMet: seconds < GOAL_SECONDS,
    },
  ];
}

function runInWorker(share) {
  const worker = new Worker(new URL(import.meta.url), { workerData: share });
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}

/** Every `step`th service. */
async function runShare({ urls, first, step }) {
  const modules = await Promise.all(urls.map((url) => import(url)));
  const { PROFILES, replay, simulateLoad } = Object.assign({}, ...modules);
  const settings = {
    initial: { memoryGb: 8, replicas: 3 },
    getLimits: () => ({ limits: LIMITS, untilMinute: Number.POSITIVE_INFINITY }),
  };
  let load;
  const result = { changes: 0, oursMs: 0, baselineMs: 0 };
  // Alternately, so that a slow moment of the machine affects both.
  for (let seed = first; seed < SERVICES; seed += step) {
    const profile = PROFILES[seed % PROFILES.length];
    const peak = { cpuCores: 20 + (seed % 50), memoryGb: 80 + (seed % 200) };
    const startedAt = performance.now();
    load = simulateLoad({ profile, seed, startMinute: START_MINUTE, days: DAYS, peak }, load);
    result.baselineMs += performance.now() - startedAt;
    result.changes += replay(load, settings).changes;
    result.oursMs += performance.now() - startedAt;
  }
  return result;
}

/** The program has no command for many services, so the modules are built for this benchmark. */
async function buildReplay() {
  const [{ rolldown }, { directory }] = await Promise.all([import('rolldown'), import('./tools.mjs')]);
  const modules = ['replay', 'simulated-load'];
  const bundle = await rolldown({
    input: Object.fromEntries(
      modules.map((name) => [name, join(import.meta.dirname, `../src/running/autoscaling/replay/${name}.ts`)]),
    ),
    platform: 'node',
  });
  await bundle.write({ dir: directory, format: 'esm', entryFileNames: '[name].mjs' });
  await bundle.close();
  return modules.map((name) => pathToFileURL(join(directory, `${name}.mjs`)).href);
}
