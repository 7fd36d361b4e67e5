import { MINUTE_MS } from '../../kernel/clock.ts';
import { BYTES_PER_GB, type LoadSample, toMinute } from '../load.ts';

/** In place of a value that was not measured. */
export const NOT_MEASURED = -1;

/** The load of consecutive minutes, over all replicas. */
export interface LoadSeries {
  /** Minutes since 1970. */
  startMinute: number;
  cpuCores: Float32Array;
  memoryGb: Float32Array;
  /** Without it, queries were not measured. */
  queries?: Float32Array;
  /** 1 for the minutes in which the service ran; without it, it always ran. */
  isRunning?: Uint8Array;
}

/** Minutes without a sample count as not running: they cost nothing and decide nothing. */
export function toLoadSeries(samples: readonly LoadSample[], from: number, to: number): LoadSeries {
  const startMinute = toMinute(from);
  const minutes = Math.max(0, Math.ceil(to / MINUTE_MS) - startMinute);
  const create = () => new Float32Array(minutes).fill(NOT_MEASURED);
  const series = { startMinute, cpuCores: create(), memoryGb: create(), queries: create() };
  const isRunning = new Uint8Array(minutes);
  for (const { at, state, cpuCores, memoryBytes, queries } of samples) {
    const index = toMinute(at) - startMinute;
    if (state !== 'running' || index < 0 || index >= minutes) continue;
    isRunning[index] = 1;
    if (cpuCores !== undefined) series.cpuCores[index] = cpuCores;
    if (memoryBytes !== undefined) series.memoryGb[index] = memoryBytes / BYTES_PER_GB;
    if (queries !== undefined) series.queries[index] = queries;
  }
  return { ...series, isRunning };
}
