import { memoize } from '../../../kernel/memo.ts';
import type { LoadSeries } from './load-series.ts';
import { BLOCK, createValues } from './peaks.ts';

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
  const series = { startMinute, minutes, ...createOrReuse(minutes, reused) };
  const { cpuCores, memoryGb } = series;
  const simulation: Simulation = {
    week: getWeek(profile),
    growth: profile === 'growing' ? (1 - BASE_LOAD) / minutes : 0,
    isSpiky: profile === 'spiky',
    peakCores: peak.cpuCores,
    peakGb: peak.memoryGb,
    random: createRandom(seed),
    spike: 0,
    spikeEnd: 0,
  };
  for (let block = 0; block < cpuCores.peaks.length; block++) {
    const first = block * BLOCK;
    const highest = simulateMinutes(simulation, series, first, Math.min(minutes, first + BLOCK));
    cpuCores.peaks[block] = peak.cpuCores * highest;
    memoryGb.peaks[block] = peak.memoryGb * toMemoryShare(highest);
  }
  return series;
}

const createOrReuse = (minutes: number, reused?: LoadSeries): Pick<LoadSeries, 'cpuCores' | 'memoryGb'> =>
  reused
    ? { cpuCores: reused.cpuCores, memoryGb: reused.memoryGb }
    : { cpuCores: createValues(minutes), memoryGb: createValues(minutes) };

/** The last three change from minute to minute. */
interface Simulation {
  week: Float32Array;
  /** Of the load, per minute. */
  growth: number;
  isSpiky: boolean;
  peakCores: number;
  peakGb: number;
  random: number;
  spike: number;
  spikeEnd: number;
}

/**
 * Writes the load of the minutes from `first` to before `end`, and returns the highest as a share of the peak. A function of its own
 * that is called often: V8 compiles one long loop while it runs, and discards the result at its end.
 */
function simulateMinutes(simulation: Simulation, series: LoadSeries, first: number, end: number): number {
  const { week, growth, isSpiky, peakCores, peakGb } = simulation;
  const cpuCores = series.cpuCores.values;
  const memoryGb = series.memoryGb.values;
  // A local variable: a generator that is a closure takes as long as all of the rest.
  let { random, spike, spikeEnd } = simulation;
  let highest = 0;
  let weekMinute = (series.startMinute + first) % MINUTES_PER_WEEK;
  for (let index = first; index < end; index++) {
    let load = (week[weekMinute] as number) + growth * index;
    weekMinute = weekMinute + 1 === MINUTES_PER_WEEK ? 0 : weekMinute + 1;
    random = nextRandom(random);
    const noise = toShare(random);
    if (isSpiky) {
      if (noise < SPIKES_PER_DAY / MINUTES_PER_DAY) {
        random = nextRandom(random);
        spikeEnd = index + Math.ceil(toShare(random) * MAX_SPIKE_MINUTES);
        random = nextRandom(random);
        spike = toShare(random) * (1 - BASE_LOAD);
      }
      if (index < spikeEnd) load += spike;
    }
    load *= 1 - NOISE * noise;
    highest = Math.max(highest, load);
    cpuCores[index] = peakCores * load;
    memoryGb[index] = peakGb * toMemoryShare(load);
  }
  simulation.random = random;
  simulation.spike = spike;
  simulation.spikeEnd = spikeEnd;
  return highest;
}

const toMemoryShare = (load: number): number => BASE_MEMORY + (1 - BASE_MEMORY) * load;

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

/** Random integers of 32 bits (xorshift), each from the one before: fast, and the same on every machine. */
function nextRandom(random: number): number {
  let next = random ^ (random << 13);
  next ^= next >>> 17;
  return next ^ (next << 5);
}

const createRandom = (seed: number): number => Math.imul(seed + 1, 0x9e3779b1) | 1;

/** From 0 to 1. */
const toShare = (random: number): number => (random >>> 0) / 0x100000000;
