import { MINUTE_MS } from '../../../kernel/time/clock.ts';
import { BYTES_PER_GB, type LoadSample, type Peaks, toLoadPerShard, toMinute } from '../load.ts';
import { findPeak, type IndexedValues, indexValues, NOT_MEASURED } from './peaks.ts';

/** The load of consecutive minutes, over all replicas of a shard. Nothing is measured while the service does not run. */
export interface LoadSeries {
  /** Minutes since 1970. */
  startMinute: number;
  minutes: number;
  cpuCores: IndexedValues;
  memoryGb: IndexedValues;
  /** Without it, queries were not measured. */
  queries?: IndexedValues;
  /** 1 for the minutes in which the service ran; without it, it always ran. */
  isRunning?: Uint8Array;
  /** The number of covered minutes before each minute; without it, all are covered. */
  covered?: Int32Array;
}

/** Minutes without a sample count as not running: they cost nothing and decide nothing. */
export function toLoadSeries(samples: readonly LoadSample[], from: number, to: number): LoadSeries {
  const startMinute = toMinute(from);
  const minutes = Math.max(0, Math.ceil(to / MINUTE_MS) - startMinute);
  const create = () => new Float32Array(minutes).fill(NOT_MEASURED);
  const [cpu, memory, concurrent] = [create(), create(), create()];
  const isRunning = new Uint8Array(minutes);
  for (const sample of samples) {
    const { at, state, queries } = sample;
    const { cpuCores, memoryBytes } = toLoadPerShard(sample);
    const index = toMinute(at) - startMinute;
    if (state !== 'running' || index < 0 || index >= minutes) continue;
    isRunning[index] = 1;
    if (cpuCores !== undefined) cpu[index] = cpuCores;
    if (memoryBytes !== undefined) memory[index] = memoryBytes / BYTES_PER_GB;
    if (queries !== undefined) concurrent[index] = queries;
  }
  const covered = new Int32Array(minutes + 1);
  for (let index = 0; index < minutes; index++) {
    const isCovered = cpu[index] !== NOT_MEASURED && memory[index] !== NOT_MEASURED;
    covered[index + 1] = (covered[index] as number) + (isCovered ? 1 : 0);
  }
  return {
    startMinute,
    minutes,
    cpuCores: indexValues(cpu),
    memoryGb: indexValues(memory),
    queries: indexValues(concurrent),
    isRunning,
    covered,
  };
}

/** The covered minutes of the `width` minutes that end with `index`. */
export function countCovered({ covered }: LoadSeries, index: number, width: number): number {
  const first = Math.max(0, index + 1 - width);
  return covered ? (covered[index + 1] as number) - (covered[first] as number) : index + 1 - first;
}

/** The peaks of the `width` minutes that end with `index`. */
export function readPeaks(series: LoadSeries, index: number, width: number): Peaks {
  const first = Math.max(0, index + 1 - width);
  return {
    cpuCores: findPeak(series.cpuCores, first, index),
    memoryGb: findPeak(series.memoryGb, first, index),
    queries: series.queries && findPeak(series.queries, first, index),
    coveredMinutes: countCovered(series, index, width),
  };
}
