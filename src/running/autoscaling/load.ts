import { MINUTE_MS } from '../../kernel/time/clock.ts';
import type { ObservedState, ServiceState } from '../../management/services/driver.ts';
import type { ServiceSize } from '../../management/services/service.ts';

/** The load of one minute, over all replicas of all shards. A member that was not measured is left out. */
export interface LoadSample extends ServiceSize {
  /** Left out if there is one. */
  shards?: number;
  /** Epoch milliseconds; the sample is for the minute that contains it. */
  at: number;
  /** Average of the minute. */
  cpuCores?: number;
  /** In proportion to `memoryGb`: a service that uses all of its memory has `memoryGb × replicas × shards × 2^30`. */
  memoryBytes?: number;
  /** Queries that ran at the same time, at most. */
  queries?: number;
  /** Queries that failed for lack of memory in this minute. */
  outOfMemory?: number;
  state: ServiceState | ObservedState;
}

export const BYTES_PER_GB = 2 ** 30;

export const toMinute = (ms: number): number => Math.floor(ms / MINUTE_MS);

/** The periods that decisions look back on, in minutes. */
export const WINDOW_MINUTES = { tenMinutes: 10, hour: 60, threeHours: 180, thirtyHours: 1800 } as const;
export type WindowName = keyof typeof WINDOW_MINUTES;
const WINDOW_NAMES = Object.keys(WINDOW_MINUTES) as WindowName[];
export const HISTORY_MINUTES = WINDOW_MINUTES.thirtyHours;

/** The highest load in a window, of the average shard. A peak is undefined if it was never measured. */
export interface Peaks {
  cpuCores: number | undefined;
  memoryGb: number | undefined;
  queries: number | undefined;
  /** Minutes in which the service ran and both CPU and memory were measured. */
  coveredMinutes: number;
  /** Minutes in which the service ran and anything was measured. A replay, which gives no reasons, leaves it out. */
  measuredMinutes?: number;
}

/** Everything that a decision knows about the load. */
export interface LoadSummary extends Record<WindowName, Peaks> {
  /** The minute of the last query that failed for lack of memory, in the longest window. */
  outOfMemoryMinute: number | undefined;
}

/**
 * Sizes are those of each shard, and so are the loads that decisions compare with them. A query may need all shards, so
 * their number is not divided.
 */
export const toLoadPerShard = ({ cpuCores, memoryBytes, shards = 1 }: LoadSample) => ({
  ...(cpuCores !== undefined && { cpuCores: cpuCores / shards }),
  ...(memoryBytes !== undefined && { memoryBytes: memoryBytes / shards }),
});

/** What one sample contributes. Minutes in which the service did not run say nothing about the size that it needs. */
export function measure(sample: LoadSample) {
  const { state, queries } = sample;
  if (state !== 'running') return { isCovered: false, isMeasured: false } as const;
  const { cpuCores, memoryBytes } = toLoadPerShard(sample);
  return {
    cpuCores,
    memoryGb: memoryBytes === undefined ? undefined : memoryBytes / BYTES_PER_GB,
    queries,
    isCovered: cpuCores !== undefined && memoryBytes !== undefined,
    isMeasured: cpuCores !== undefined || memoryBytes !== undefined || queries !== undefined,
  };
}

/** Summarizes samples in the order of their time, at most one per minute. Later samples than `now` are ignored. */
export function summarizeLoad(history: readonly LoadSample[], now: number): LoadSummary {
  const current = toMinute(now);
  const empty = (): Peaks => ({
    cpuCores: undefined,
    memoryGb: undefined,
    queries: undefined,
    coveredMinutes: 0,
    measuredMinutes: 0,
  });
  const summary: LoadSummary = {
    tenMinutes: empty(),
    hour: empty(),
    threeHours: empty(),
    thirtyHours: empty(),
    outOfMemoryMinute: undefined,
  };
  for (const sample of history) {
    const age = current - toMinute(sample.at);
    if (age < 0 || age >= HISTORY_MINUTES) continue;
    const { cpuCores, memoryGb, queries, isCovered, isMeasured } = measure(sample);
    for (const name of WINDOW_NAMES) {
      if (age >= WINDOW_MINUTES[name]) continue;
      const peaks = summary[name];
      peaks.cpuCores = larger(peaks.cpuCores, cpuCores);
      peaks.memoryGb = larger(peaks.memoryGb, memoryGb);
      peaks.queries = larger(peaks.queries, queries);
      if (isCovered) peaks.coveredMinutes++;
      if (isMeasured) peaks.measuredMinutes = (peaks.measuredMinutes ?? 0) + 1;
    }
    if ((sample.outOfMemory ?? 0) > 0) summary.outOfMemoryMinute = toMinute(sample.at);
  }
  return summary;
}

const larger = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.max(a, b);
