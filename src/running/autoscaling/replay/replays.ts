import { AppError } from '../../../kernel/errors.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../../kernel/time/clock.ts';
import { toUtcDay } from '../../../kernel/time/days.ts';
import { GB_PER_UNIT } from '../../../management/billing/forecast/scaling-estimate.ts';
import { getApplicablePrice } from '../../../management/billing/prices/applicable-price.ts';
import { calculateCostMicros } from '../../../management/billing/prices/cost-micros.ts';
import type { Prices } from '../../../management/billing/prices/prices.ts';
import type { Organization } from '../../../management/organizations/organization.ts';
import { getShards, type Service } from '../../../management/services/service.ts';
import { GB_PER_CORE } from '../decision.ts';
import { toMinute } from '../load.ts';
import type { LoadHistory } from '../load-history.ts';
import { getSizeLimits } from '../sizes.ts';
import { type LoadSeries, toLoadSeries } from './load-series.ts';
import { type ReplayResult, replay } from './replay.ts';
import { type Profile, simulateLoad } from './simulated-load.ts';
import { getSmallest, toVariant, VARIANTS, type Variant } from './variants.ts';

/** The load is kept for this long. */
export const MAX_REPLAY_DAYS = 90;
/** Simulated load needs this share of the maximum size at its peak. */
const PEAK_SHARE = 0.6;

export interface ReplayedVariant extends ReplayResult {
  variant: Variant;
  /** The limits outside the windows of the scaling schedule. */
  minMemoryGb: number;
  maxMemoryGb: number;
  minReplicas: number;
  maxReplicas: number;
  costMicros: number;
}

interface Options {
  clock: Clock;
  prices: Prices;
  loadHistory: LoadHistory;
}

export function createReplays({ clock, prices, loadHistory }: Options) {
  async function readLoad(service: Readonly<Service>, from: number, to: number): Promise<LoadSeries> {
    const samples = await loadHistory.readHistory(service, from, to);
    if (samples.length === 0) {
      const text = `No load of service ${service.id} is recorded for this time; use --simulate to replay simulated load`;
      throw new AppError('not_found', text);
    }
    return toLoadSeries(samples, from, to);
  }

  return {
    /** The result of each variant of the settings, with recorded load, or simulated load if `simulated` is set. */
    async compare(
      organization: Organization,
      service: Readonly<Service>,
      { days, simulated }: { days: number; simulated?: { profile: Profile; seed: number } | undefined },
    ): Promise<ReplayedVariant[]> {
      const now = clock.now();
      const from = now - days * DAY_MS;
      const getLimits = (at: number) => getSizeLimits(service, organization, at);
      const { limits: base } = getLimits(now);
      const series = simulated
        ? simulateLoad({ ...simulated, startMinute: toMinute(from), days, peak: getPeak(base) })
        : await readLoad(service, from, now);
      const usage = { meter: 'compute', entityType: 'service', tier: organization.tier } as const;
      const book = await prices.getForDay(toUtcDay(now));
      const price = getApplicablePrice(book, { ...usage, region: service.details.region });
      return VARIANTS.map((variant) => {
        const { fixed: _, mode: __, ...bounds } = toVariant(base, variant);
        const result = replay(series, {
          initial: getSmallest(toVariant(getLimits(from).limits, variant)),
          getLimits(minute) {
            const { limits, until } = getLimits(minute * MINUTE_MS);
            return { limits: toVariant(limits, variant), untilMinute: Math.ceil(until / MINUTE_MS) };
          },
        });
        const unitMinutes = ((result.gbMinutes * getShards(service)) / GB_PER_UNIT).toFixed(6);
        return { variant, ...bounds, ...result, costMicros: calculateCostMicros('compute', unitMinutes, price) };
      });
    },
  };
}

const getPeak = ({ maxMemoryGb, maxReplicas }: { maxMemoryGb: number; maxReplicas: number }) => {
  const memoryGb = maxMemoryGb * maxReplicas * PEAK_SHARE;
  return { memoryGb, cpuCores: memoryGb / GB_PER_CORE };
};
