import type { Clock } from '../../../kernel/time/clock.ts';
import { addDays, countDaysBetween, toUtcDay } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Caller } from '../../hand-outs/caller.ts';
import { DRIVERS } from '../../services/driver.ts';
import type { ServiceLifecycle } from '../../services/lifecycle/lifecycle.ts';
import type { NewService } from '../../services/lifecycle/new-service.ts';
import type { ScalingChange } from '../../services/scaling/scaling.ts';
import { getMaxReplicas, getShards, type Scaling, type Service } from '../../services/service.ts';
import type { Services } from '../../services/services.ts';
import { HOURS_PER_MONTH } from '../meter.ts';
import { getApplicablePrice } from '../prices/applicable-price.ts';
import { calculateCostMicros } from '../prices/cost-micros.ts';
import type { Prices } from '../prices/prices.ts';
import { estimateReplicaGb, GB_PER_UNIT } from './scaling-estimate.ts';
import { type ComputeUsage, sumComputeCost } from './store.ts';

export type ScalingCosts = ReturnType<typeof createScalingCosts>;

/** Micro-CHC for compute in a billing month. */
export interface MonthlyCost {
  /** Always at the minimum size. */
  min: number;
  /** Always at the maximum size. */
  max: number;
  /** At the usage of the last days; undefined without usage. */
  estimate: number | undefined;
  /** The replicas of each shard that run at the maximum, and so are billed. */
  replicas: number;
  shards: number;
}

const MINUTES_PER_HOUR = 60;
const HOURS_PER_DAY = 24;
/** Whole days before today that the estimate is based on. */
const USAGE_DAYS = 30;

interface Options {
  db: Db;
  services: Services;
  serviceLifecycle: Pick<ServiceLifecycle, 'preview'>;
  prices: Prices;
  clock: Clock;
}

export function createScalingCosts({ db, services, serviceLifecycle, prices, clock }: Options) {
  return {
    /** The service after a scaling change, with its compute cost before and after. Stores nothing. */
    async preview(organizationId: string, id: string, change: ScalingChange) {
      const { organization, before, after } = await services.preview(organizationId, id, change);
      const today = toUtcDay(clock.now());
      const book = await prices.getForDay(today);
      const usageWindow = { from: addDays(today, -USAGE_DAYS), to: addDays(today, -1) };
      const usage = await sumComputeCost(db, organizationId, id, usageWindow);
      const days = usage === undefined ? 0 : countDaysBetween(usage.firstDay, usageWindow.to) + 1;
      const shards = getShards(before);
      const calculateCost = ({ driver, scaling: wanted, details }: Readonly<Service>): MonthlyCost => {
        const scaling = limitReplicas(wanted, DRIVERS[driver].maxReplicas);
        const meter = { meter: 'compute', entityType: 'service', tier: organization.tier } as const;
        const price = getApplicablePrice(book, { ...meter, region: details.region });
        const usedGb = usage && toAverageGb(usage, days, price);
        const estimatedGb =
          usedGb === undefined
            ? undefined
            : estimateReplicaGb(
                usedGb / shards,
                limitReplicas(before.scaling, DRIVERS[before.driver].maxReplicas),
                scaling,
              );
        return calculateMonthlyCost({ scaling, shards }, price, estimatedGb);
      };
      return { service: after, before: calculateCost(before), after: calculateCost(after), usageDays: days };
    },

    /** The service that would be created, with its compute cost. Stores nothing. */
    async previewNew(caller: Caller, organizationId: string, wanted: NewService) {
      const { organization, service } = await serviceLifecycle.preview(caller, organizationId, wanted);
      const book = await prices.getForDay(toUtcDay(clock.now()));
      const meter = { meter: 'compute', entityType: 'service', tier: organization.tier } as const;
      const price = getApplicablePrice(book, { ...meter, region: service.details.region });
      const scaling = limitReplicas(service.scaling, DRIVERS[service.driver].maxReplicas);
      const cost = calculateMonthlyCost({ scaling, shards: getShards(service) }, price, undefined);
      return { scaling: service.scaling, cost };
    },
  };
}

/** A driver may run fewer replicas than requested; the others cost nothing. */
const limitReplicas = (scaling: Scaling, max = Number.POSITIVE_INFINITY): Scaling => ({
  ...scaling,
  numReplicas: Math.min(scaling.numReplicas, max),
  ...(scaling.maxReplicas === undefined ? undefined : { maxReplicas: Math.min(scaling.maxReplicas, max) }),
});

/** The memory that the compute cost pays for at today's price, as the average over the days. Undefined if it is free. */
function toAverageGb({ micros }: ComputeUsage, days: number, price: string): number | undefined {
  const gbHourMicros = calculateCostMicros('compute', String(MINUTES_PER_HOUR), price) / GB_PER_UNIT;
  return gbHourMicros === 0 ? undefined : micros / (days * HOURS_PER_DAY) / gbHourMicros;
}

/** A service that scales to zero may cost nothing. */
function calculateMonthlyCost(
  { scaling, shards }: { scaling: Scaling; shards: number },
  price: string,
  estimatedGb: number | undefined,
): MonthlyCost {
  const calculate = (replicaGb: number, replicas = scaling.numReplicas) => {
    const unitMinutes = (shards * replicas * replicaGb * HOURS_PER_MONTH * MINUTES_PER_HOUR) / GB_PER_UNIT;
    return calculateCostMicros('compute', formatQuantity(unitMinutes), price);
  };
  return {
    min: scaling.idleScaling ? 0 : calculate(scaling.minReplicaMemoryGb),
    max: calculate(scaling.maxReplicaMemoryGb, getMaxReplicas(scaling)),
    estimate: estimatedGb === undefined ? undefined : calculate(estimatedGb),
    replicas: getMaxReplicas(scaling),
    shards,
  };
}

/** Quantities have at most 6 decimals, and no exponent. */
const formatQuantity = (unitMinutes: number): string => unitMinutes.toFixed(6);
