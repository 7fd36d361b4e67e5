import type { Clock } from '../../kernel/clock.ts';
import { toUtcDay } from '../../kernel/days.ts';
import type { ScalingChange } from '../../services/scaling.ts';
import type { Scaling, Service } from '../../services/service.ts';
import type { Services } from '../../services/services.ts';
import { HOURS_PER_MONTH } from '../meter.ts';
import { getApplicablePrice } from '../prices/applicable-price.ts';
import { calculateCostMicros } from '../prices/cost-micros.ts';
import type { Prices } from '../prices/prices.ts';

export type ScalingCosts = ReturnType<typeof createScalingCosts>;

/** Micro-CHC for compute in a billing month, always at the minimum and always at the maximum size. */
export interface MonthlyCost {
  min: number;
  max: number;
}

const MINUTES_PER_HOUR = 60;
const GB_PER_UNIT = 8;

export function createScalingCosts({ services, prices, clock }: { services: Services; prices: Prices; clock: Clock }) {
  return {
    /** The service after a scaling change, with its compute cost before and after. Stores nothing. */
    async preview(organizationId: string, id: string, change: ScalingChange) {
      const { organization, before, after } = await services.preview(organizationId, id, change);
      const book = await prices.getForDay(toUtcDay(clock.now()));
      const calculateCost = ({ scaling, details }: Readonly<Service>): MonthlyCost => {
        const usage = { meter: 'compute', entityType: 'service', tier: organization.tier } as const;
        return calculateMonthlyCost(scaling, getApplicablePrice(book, { ...usage, region: details.region }));
      };
      return { service: after, before: calculateCost(before), after: calculateCost(after) };
    },
  };
}

/** A service that scales to zero may cost nothing. */
function calculateMonthlyCost(scaling: Scaling, price: string): MonthlyCost {
  const calculate = (replicaGb: number) => {
    const unitMinutes = (scaling.numReplicas * replicaGb * HOURS_PER_MONTH * MINUTES_PER_HOUR) / GB_PER_UNIT;
    return calculateCostMicros('compute', String(unitMinutes), price);
  };
  return {
    min: scaling.idleScaling ? 0 : calculate(scaling.minReplicaMemoryGb),
    max: calculate(scaling.maxReplicaMemoryGb),
  };
}
