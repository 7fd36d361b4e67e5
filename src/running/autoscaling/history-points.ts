import { MINUTE_MS } from '../../kernel/time/clock.ts';
import { toUtcDay } from '../../kernel/time/days.ts';
import { GB_PER_UNIT } from '../../management/billing/forecast/scaling-estimate.ts';
import { getApplicablePrice, getApplicablePriceBook } from '../../management/billing/prices/applicable-price.ts';
import { calculateCostMicros } from '../../management/billing/prices/cost-micros.ts';
import type { PriceBook } from '../../management/billing/prices/price-book.ts';
import type { Organization } from '../../management/organizations/organization.ts';
import type { Service, ServiceSize } from '../../management/services/service.ts';
import { BYTES_PER_GB, type LoadSample } from './load.ts';

/** The load and size in one step of a history. Loads are peaks over all replicas. */
export interface HistoryPoint extends ServiceSize {
  /** The start of the step. */
  at: number;
  /** Left out if there is one. */
  shards?: number;
  state: LoadSample['state'];
  cpuCores?: number;
  usedMemoryGb?: number;
  queries?: number;
  outOfMemory: number;
  /** Micro-CHC for an hour at this size; 0 unless the service runs. */
  costMicrosPerHour: number;
}

const MAX_POINTS = 1500;
const STEP_MINUTES = [1, 2, 5, 10, 15, 30, 60];

/** The smallest step that gives at most `MAX_POINTS` points. */
export function chooseStepMinutes(from: number, to: number): number {
  const minutes = (to - from) / MINUTE_MS;
  return STEP_MINUTES.find((step) => minutes / step <= MAX_POINTS - 1) ?? 60;
}

/** Combines samples into steps; steps without samples are left out. Size and state are those of the last sample. */
export function createHistoryPoints(stepMinutes: number, getCost: (sample: LoadSample) => number) {
  const points: HistoryPoint[] = [];
  const stepMs = stepMinutes * MINUTE_MS;

  function add(sample: LoadSample): void {
    const at = Math.floor(sample.at / stepMs) * stepMs;
    const { memoryGb, replicas, shards, state } = sample;
    let point = points.at(-1);
    if (point?.at !== at) {
      point = { at, memoryGb, replicas, state, outOfMemory: 0, costMicrosPerHour: 0 };
      points.push(point);
    }
    const usedMemoryGb = sample.memoryBytes === undefined ? undefined : sample.memoryBytes / BYTES_PER_GB;
    Object.assign(point, {
      memoryGb,
      replicas,
      ...(shards !== undefined && { shards }),
      state,
      ...highest('cpuCores', point.cpuCores, sample.cpuCores),
      ...highest('usedMemoryGb', point.usedMemoryGb, usedMemoryGb),
      ...highest('queries', point.queries, sample.queries),
      outOfMemory: point.outOfMemory + (sample.outOfMemory ?? 0),
      costMicrosPerHour: state === 'running' ? getCost(sample) : 0,
    });
  }

  return { add, points };
}

const highest = (name: string, a: number | undefined, b: number | undefined) =>
  b === undefined ? undefined : { [name]: Math.max(a ?? 0, b) };

const MINUTES_PER_HOUR = 60;

/** Micro-CHC for an hour of the size of a sample, at its time. */
export function createHourlyCost(books: readonly PriceBook[], { tier }: Pick<Organization, 'tier'>, service: Service) {
  const costs = new Map<string, number>();
  return ({ memoryGb, replicas, shards = 1, at }: LoadSample): number => {
    const day = toUtcDay(at);
    const key = `${day} ${memoryGb} ${replicas} ${shards}`;
    const known = costs.get(key);
    if (known !== undefined) return known;
    const usage = { meter: 'compute', entityType: 'service', tier, region: service.details.region } as const;
    const price = getApplicablePrice(getApplicablePriceBook(books, day), usage);
    const unitMinutes = ((memoryGb * replicas * shards) / GB_PER_UNIT) * MINUTES_PER_HOUR;
    const cost = calculateCostMicros('compute', unitMinutes.toFixed(6), price);
    costs.set(key, cost);
    return cost;
  };
}
