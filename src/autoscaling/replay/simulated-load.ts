import { memoize } from '../../kernel/memo.ts';
import type { LoadSeries } from './load-series.ts';

/** The shapes of simulated load. */
export const PROFILES = ['steady', 'daily', 'weekly', 'spiky', 'growing'] as const;
export type Profile = (typeof PROFILES)[number];

const MINUTES_PER_DAY = 1440;
const MINUTES_PER_WEEK = 7 * MINUTES_PER_DAY;
/** Memory is in use also without queries: caches, merges, indexes. */
const BASE_MEMORY = 0.3;
/** The load varies by this share around its shape. */
const NOISE = 0.2;
const SPIKES_PER_DAY = 3;
const MAX_SPIKE_MINUTES = 40;
const BASE_LOAD = 0.25;

interface Options {
  profile: Profile;
  /** The same seed gives the same load. */
  seed: number;
  startMinute: number;
  days: number;
  /** The load at its highest, over all replicas. */
  peak: { cpuCores: number; memoryGb: number };
}

/** `reused` is a load of the same length that is no longer needed: its arrays are used again. */
export function simulateLoad({ profile, seed, startMinute, days, peak }: Options, reused?: LoadSeries): LoadSeries {
  const minutes = days * MINUTES_PER_DAY;
  const { cpuCores, memoryGb } = reused ?? {
    cpuCores: new Float32Array(minutes),
    memoryGb: new Float32Array(minutes),
  };
  const week = getWeek(profile);
  const nextRandom = createRandom(seed);
  const growth = profile === 'growing' ? (1 - BASE_LOAD) / minutes : 0;
  let spikeEnd = 0;
  let spike = 0;
  for (let index = 0; index < minutes; index++) {
    let load = (week[(startMinute + index) % MINUTES_PER_WEEK] as number) + growth * index;
    const random = nextRandom();
    if (profile === 'spiky') {
      if (random < SPIKES_PER_DAY / MINUTES_PER_DAY) {
        spikeEnd = index + Math.ceil(nextRandom() * MAX_SPIKE_MINUTES);
        spike = nextRandom() * (1 - BASE_LOAD);
      }
      if (index < spikeEnd) load += spike;
    }
    load *= 1 - NOISE * random;
    cpuCores[index] = peak.cpuCores * load;
    memoryGb[index] = peak.memoryGb * (BASE_MEMORY + (1 - BASE_MEMORY) * load);
  }
  return { startMinute, cpuCores, memoryGb };
}

/** The load by minute of the week, as a share of the peak. */
const SHAPES: Readonly<Record<Profile, (minute: number) => number>> = {
  steady: () => 0.7,
  daily: (minute) => BASE_LOAD + (1 - BASE_LOAD) * getDayShare(minute),
  weekly: (minute) => BASE_LOAD + (1 - BASE_LOAD) * getDayShare(minute) * (isWeekend(minute) ? 0.2 : 1),
  spiky: () => BASE_LOAD,
  growing: () => BASE_LOAD,
};

const getWeek = memoize((profile: Profile) =>
  Float32Array.from({ length: MINUTES_PER_WEEK }, (_, minute) => SHAPES[profile](minute)),
);

/** From 0 at 01:00 to 1 at 13:00. */
function getDayShare(minute: number): number {
  const angle = (2 * Math.PI * ((minute % MINUTES_PER_DAY) - 60)) / MINUTES_PER_DAY;
  return (1 - Math.cos(angle)) / 2;
}

/** 1970-01-01 was a Thursday. */
const isWeekend = (minute: number): boolean => [2, 3].includes(Math.floor(minute / MINUTES_PER_DAY) % 7);

/** Numbers from 0 to 1 (xorshift): fast, and the same on every machine. */
function createRandom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x100000000;
  };
}
