import type { ServiceSize } from '../../management/services/service.ts';
import type { AutoscalingMode } from '../../management/services/service-settings.ts';
import type { LoadSummary, Peaks } from './load.ts';
import type { SizeLimits } from './sizes.ts';

/** `up` and `down` change the memory of the replicas, `out` and `in` their number. */
export const ACTIONS = ['none', 'up', 'down', 'out', 'in'] as const;
export type Action = (typeof ACTIONS)[number];

/** What a decision depends on, apart from the load and the time. */
export interface DecisionInput {
  /** The desired size, as far as the driver can run it. Decisions are steps from here. */
  current: ServiceSize;
  /** What was observed, if it is known: loads are shares of it. As `current` if it is left out. */
  running?: ServiceSize | undefined;
  limits: SizeLimits;
  /** When the size last changed, in epoch milliseconds; undefined if it never did. */
  lastChangeAt?: number | undefined;
}

/** The figures that a decision was based on. Loads are totals over all replicas. */
interface DecisionInputs {
  mode: AutoscalingMode;
  minMemoryGb: number;
  maxMemoryGb: number;
  minReplicas: number;
  maxReplicas: number;
  /** Of `windowMinutes`, those in which the service ran and its load was measured. */
  coveredMinutes: number;
  windowMinutes: number;
  /** In the window. */
  peakCpuCores?: number;
  peakMemoryGb?: number;
  peakQueries?: number;
  /** In the last 30 hours, in vertical mode. */
  longPeakCpuCores?: number;
  longPeakMemoryGb?: number;
  /** The peaks as a share of the current size. */
  cpuPercent?: number;
  memoryPercent?: number;
  queriesPercent?: number;
  /** The size that the peaks call for; it is approached one step at a time. */
  targetMemoryGb?: number;
  targetReplicas?: number;
  /** Epoch milliseconds. */
  outOfMemoryAt?: number;
  lastChangeAt?: number;
}

export interface Decision {
  /** Epoch milliseconds. */
  at: number;
  action: Action;
  from: ServiceSize;
  /** Equal to `from` if the action is `none`. */
  to: ServiceSize;
  inputs: DecisionInputs;
  /** One sentence for users. */
  reason: string;
}

/** The size that the rules of one mode choose. */
export interface Outcome {
  /** Left out for no change. */
  to?: ServiceSize;
  /** A function, because a replay makes millions of decisions and shows no reasons. */
  formatReason(): string;
}

/** The loads, over all replicas, that a size is meant for. */
export interface LoadBounds {
  /** The size grows only if a load was higher than this within `upMinutes`. */
  up: Loads;
  upMinutes: number;
  /** The size shrinks only if all loads were lower than this for `downMinutes`, and `downCoolDownMs` after a change. */
  down: Loads;
  downMinutes: number;
  downCoolDownMs: number;
  /** Decisions are made in minutes that are multiples of this, and when a query fails for lack of memory. */
  everyMinutes: number;
}

interface Loads {
  cpuCores: number;
  memoryGb: number;
  queries: number;
}

/** The rules of one mode. */
export interface Rules {
  /** `isNewOutOfMemory`: a query failed for lack of memory since the last change. */
  choose(load: LoadSummary, input: DecisionInput, state: { now: number; isNewOutOfMemory: boolean }): Outcome;
  describe(
    load: LoadSummary,
    input: DecisionInput,
  ): Omit<DecisionInputs, keyof SizeLimits | 'mode' | 'outOfMemoryAt' | 'lastChangeAt'>;
  /** Unless a query failed for lack of memory, `choose` changes nothing within the bounds. */
  getBounds(input: DecisionInput): LoadBounds;
}

/** Bounds are computed in another order than the shares that are compared, so they are wider by more than the rounding. */
export const ROUNDING = 1e-9;

/** Of the minutes of a window, those that must have data before a size is reduced. */
export const MIN_COVERAGE = 0.95;

/** The size that the load was measured at. */
export const getRunning = ({ current, running }: DecisionInput): ServiceSize => running ?? current;

/** "in the last 3 hours", or how many minutes of them were measured. */
export function formatPeriod({ measuredMinutes = 0 }: Peaks, minutes: number, text: string): string {
  if (measuredMinutes >= minutes * MIN_COVERAGE) return `in the last ${text}`;
  return `in ${measuredMinutes === 1 ? 'the only measured minute' : `the ${measuredMinutes} measured minutes`} of the last ${text}`;
}

/** Whether the last change is too recent. A change in the future is ignored: the clock was set back. */
export function isCoolingDown({ lastChangeAt }: DecisionInput, now: number, coolDownMs: number): boolean {
  if (lastChangeAt === undefined || lastChangeAt > now) return false;
  return now - lastChangeAt < coolDownMs;
}

export const formatPercent = (share: number): string => `${Math.round(share * 100)}%`;

/** A whole percentage for people and records. */
export const toPercent = (share: number): number => Math.round(share * 100);

/** Vertical scaling of memory also scales CPU: a replica has one core for each 4 GB. */
export const GB_PER_CORE = 4;
