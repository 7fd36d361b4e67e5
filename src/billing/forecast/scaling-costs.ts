import type { Clock } from '../../kernel/clock.ts';
import { toUtcDay } from '../../kernel/days.ts';
import type { ScalingChange } from '../../services/scaling.ts';
import type { Scaling, Service } from '../../services/service.ts';
import type { Services } from '../../services/services.ts';
import { microsOf } from '../price.ts';
import { priceOf } from '../prices/price-book.ts';
import type { Prices } from '../prices/prices.ts';

export type ScalingCosts = ReturnType<typeof createScalingCosts>;

/** Micro-CHC for one month of 732 hours, all at the smallest and all at the largest size. */
export interface MonthlyCost {
  min: number;
  max: number;
}

const HOURS_PER_MONTH = 732;
const MINUTES_PER_HOUR = 60;
const GB_PER_UNIT = 8;

export function createScalingCosts({ services, prices, clock }: { services: Services; prices: Prices; clock: Clock }) {
  return {
    /** A change of a service's scaling, its record afterwards and what compute may cost before and after. Nothing is stored. */
    async preview(organizationId: string, id: string, change: ScalingChange) {
      const { organization, before, after } = await services.preview(organizationId, id, change);
      const book = await prices.bookFor(toUtcDay(clock.now()));
      const costOf = ({ scaling, details }: Readonly<Service>): MonthlyCost => {
        const usage = { meter: 'compute', entityType: 'service', tier: organization.tier } as const;
        return monthlyCost(scaling, priceOf(book, { ...usage, region: details.region }));
      };
      return { service: after, before: costOf(before), after: costOf(after) };
    },
  };
}

/** A service that may idle may cost nothing. */
export function monthlyCost(scaling: Scaling, price: string): MonthlyCost {
  const at = (replicaGb: number) => {
    const unitMinutes = (scaling.numReplicas * replicaGb * HOURS_PER_MONTH * MINUTES_PER_HOUR) / GB_PER_UNIT;
    return microsOf('compute', String(unitMinutes), price);
  };
  return { min: scaling.idleScaling ? 0 : at(scaling.minReplicaMemoryGb), max: at(scaling.maxReplicaMemoryGb) };
}
