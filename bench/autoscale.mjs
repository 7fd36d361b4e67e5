// The autoscaler over 90 days of simulated load of 10,000 services, minute by minute. The baseline only simulates the load.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { directory, formatThousands } from './tools.mjs';

const SERVICES = Number(process.env.BENCH_SERVICES ?? 10_000);
const DAYS = 90;
const START_MINUTE = Date.UTC(2026, 7, 1) / 60_000;
const GOAL_SECONDS = 60;
const LIMITS = { mode: 'vertical', minMemoryGb: 8, maxMemoryGb: 120, minReplicas: 3, maxReplicas: 3 };

export async function autoscaleRows() {
  const { PROFILES, prepareSeries, replay, simulateLoad } = await loadReplay();
  const simulate = (seed, reused) => {
    const options = {
      profile: PROFILES[seed % PROFILES.length],
      seed,
      startMinute: START_MINUTE,
      days: DAYS,
      peak: { cpuCores: 20 + (seed % 50), memoryGb: 80 + (seed % 200) },
    };
    return simulateLoad(options, reused);
  };
  const settings = {
    initial: { memoryGb: 8, replicas: 3 },
    getLimits: () => ({ limits: LIMITS, untilMinute: Number.POSITIVE_INFINITY }),
  };
  let changes = 0;
  let load;
  let prepared;
  // Alternately, so that a slow moment of the machine affects both.
  let [oursMs, baselineMs] = [0, 0];
  for (let seed = 0; seed < SERVICES; seed++) {
    const startedAt = performance.now();
    load = simulate(seed, load);
    const simulatedAt = performance.now();
    prepared = prepareSeries(load, prepared);
    changes += replay(prepared, settings).changes;
    oursMs += performance.now() - startedAt;
    baselineMs += simulatedAt - startedAt;
  }
  return [
    {
      name: `autoscaler, ${formatThousands(SERVICES)} services × ${DAYS} days by minute, ${formatThousands(changes)} changes`,
      ours: `${(oursMs / 1000).toFixed(1)} s`,
      baseline: `${(baselineMs / 1000).toFixed(1)} s, simulating the load`,
      ratio: (oursMs / baselineMs).toFixed(2),
      goal: `< ${GOAL_SECONDS} s`,
      isMet: oursMs < GOAL_SECONDS * 1000,
    },
  ];
}

/** The program has no command for many services, so the modules are built for this benchmark. */
async function loadReplay() {
  const modules = ['replay', 'simulated-load'];
  const bundle = await rolldown({
    input: Object.fromEntries(
      modules.map((name) => [name, join(import.meta.dirname, `../src/autoscaling/replay/${name}.ts`)]),
    ),
    platform: 'node',
  });
  await bundle.write({ dir: directory, format: 'esm', entryFileNames: '[name].mjs' });
  await bundle.close();
  const loaded = await Promise.all(modules.map((name) => import(pathToFileURL(join(directory, `${name}.mjs`)).href)));
  return Object.assign({}, ...loaded);
}
