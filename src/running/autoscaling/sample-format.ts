import { HOUR_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { LoadSample } from './load.ts';

/** The minute of the hour, size, state (0 is running), cores, MiB, queries, failures for lack of memory, shards. */
type StoredSample = [number, number, number, LoadSample['state'] | 0, ...(number | null)[]];

const BYTES_PER_MIB = 2 ** 20;
const CORE_DECIMALS = 3;

export const toHour = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

export const parseSamples = (text: string, hour: number): LoadSample[] =>
  (JSON.parse(text) as StoredSample[]).map((stored) => toSample(stored, hour));

function toSample(stored: StoredSample, hour: number): LoadSample {
  const [minute, memoryGb, replicas, state, cpu, mib, queries, outOfMemory, shards] = stored;
  return {
    at: hour + minute * MINUTE_MS,
    memoryGb,
    replicas,
    ...(shards != null && { shards }),
    state: state === 0 ? 'running' : state,
    ...(cpu != null && { cpuCores: cpu }),
    ...(mib != null && { memoryBytes: mib * BYTES_PER_MIB }),
    ...(queries != null && { queries }),
    ...(outOfMemory != null && { outOfMemory }),
  };
}

/** Samples of one hour. Those of `added` replace earlier ones of the same minute. */
export function mergeSamples(stored: string | undefined, added: readonly LoadSample[]): string {
  const byMinute = new Map<number, StoredSample>();
  for (const sample of stored === undefined ? [] : (JSON.parse(stored) as StoredSample[]))
    byMinute.set(sample[0], sample);
  for (const sample of added) {
    const minute = Math.floor((sample.at - toHour(sample.at)) / MINUTE_MS);
    byMinute.set(minute, toStored(minute, sample));
  }
  return JSON.stringify([...byMinute.values()].sort((a, b) => a[0] - b[0]));
}

function toStored(minute: number, sample: LoadSample): StoredSample {
  const { memoryGb, replicas, shards, state, cpuCores, memoryBytes, queries, outOfMemory } = sample;
  const measured = [
    toMeasured(cpuCores, CORE_DECIMALS),
    toMeasured(memoryBytes === undefined ? undefined : memoryBytes / BYTES_PER_MIB, 0),
    toMeasured(queries, 0),
    toMeasured(outOfMemory, 0),
    toMeasured(shards, 0),
  ];
  // Shorter: many drivers measure CPU and memory only.
  while (measured.length > 0 && measured.at(-1) === null) measured.pop();
  return [minute, memoryGb, replicas, state === 'running' ? 0 : state, ...measured];
}

/** Drivers may report what they got from elsewhere: a value that is no amount is stored as not measured. */
function toMeasured(value: number | undefined, decimals: number): number | null {
  if (value === undefined || !Number.isFinite(value) || value < 0) return null;
  return Number(Math.min(value, Number.MAX_SAFE_INTEGER).toFixed(decimals));
}
