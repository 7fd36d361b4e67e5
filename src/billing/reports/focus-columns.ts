import type { EntityType, Metric } from '../cost.ts';

/** A meter in the words of FOCUS: units of its UnitFormat, a name to read. */
export interface FocusMeter {
  label: string;
  pricingUnit: string;
  consumedUnit: string;
  /** The consumed unit is 10 to this times the meter's own. */
  consumedPlaces: number;
}

const GIGA = 9;
const kept = (label: string): FocusMeter => ({
  label,
  pricingUnit: 'TB-Months',
  consumedUnit: 'GB-Hours',
  consumedPlaces: GIGA,
});
const moved = (label: string): FocusMeter => ({
  label,
  pricingUnit: 'GB',
  consumedUnit: 'GB',
  consumedPlaces: GIGA,
});

export const FOCUS_METERS: Record<Metric, FocusMeter> = {
  compute: { label: 'Compute', pricingUnit: 'Unit-Hours', consumedUnit: 'Unit-Minutes', consumedPlaces: 0 },
  storage: kept('Storage'),
  backup: kept('Backup'),
  dataTransfer: moved('Data transfer'),
  initialLoad: moved('Initial load'),
  publicDataTransfer: moved('Public data transfer'),
  interRegionTier1DataTransfer: moved('Inter-region data transfer, tier 1'),
  interRegionTier2DataTransfer: moved('Inter-region data transfer, tier 2'),
  interRegionTier3DataTransfer: moved('Inter-region data transfer, tier 3'),
  interRegionTier4DataTransfer: moved('Inter-region data transfer, tier 4'),
};

/** The unit of an amount that nobody metered here: the quantity is the amount, the price is 1. */
export const AMOUNT_UNIT = 'CHC';

export const RESOURCE_TYPES: Record<EntityType, string> = {
  datawarehouse: 'Data Warehouse',
  service: 'Service',
  clickpipe: 'ClickPipe',
};
