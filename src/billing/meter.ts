import type { EntityType, Metric } from './cost.ts';

/** What a meter counts, and the unit that a price is for. Every metric of the bill has one meter, of the same name. */
export interface Meter {
  /** Whose usage it is. */
  entityTypes: readonly EntityType[];
  /** What a quantity is given in. */
  unit: string;
  /** What a price is for, and how many of the quantity's units that is. */
  pricingUnit: string;
  unitsPerPricingUnit: bigint;
}

const GB = 10n ** 9n;
const TB = 10n ** 12n;
/** A billing month is 30.5 days, as in the published examples. */
const HOURS_PER_MONTH = 732n;

const kept: Meter = {
  entityTypes: ['datawarehouse'],
  unit: 'byte-hours',
  pricingUnit: 'TB-months',
  unitsPerPricingUnit: TB * HOURS_PER_MONTH,
};
const moved = (...entityTypes: EntityType[]): Meter => ({
  entityTypes,
  unit: 'bytes',
  pricingUnit: 'GB',
  unitsPerPricingUnit: GB,
});

export const METERS: Record<Metric, Meter> = {
  compute: {
    entityTypes: ['service', 'clickpipe'],
    unit: 'unit-minutes',
    pricingUnit: 'unit-hours',
    unitsPerPricingUnit: 60n,
  },
  storage: kept,
  backup: kept,
  dataTransfer: moved('clickpipe'),
  initialLoad: moved('clickpipe'),
  publicDataTransfer: moved('service'),
  interRegionTier1DataTransfer: moved('service'),
  interRegionTier2DataTransfer: moved('service'),
  interRegionTier3DataTransfer: moved('service'),
  interRegionTier4DataTransfer: moved('service'),
};
