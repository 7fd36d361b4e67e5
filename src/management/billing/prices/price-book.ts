import type { Day } from '../../../kernel/time/days.ts';
import type { EntityType } from '../entity.ts';
import { type MeterName, TELEMETRY_METER_NAMES } from '../meter.ts';

/** CHC for one pricing unit of a meter, optionally for one entity type, tier or region only. */
export interface Price {
  meter: MeterName;
  entityType?: EntityType;
  tier?: string;
  region?: string;
  /** A decimal string, never a float: `0.2985`. */
  price: string;
}

/** A complete list of prices, in effect from a day on. Prices apply to all organizations. */
export interface PriceBook {
  version: number;
  effectiveFrom: Day;
  prices: readonly Price[];
}

/** Telemetry is free where a list has no price for it: it was metered later than the lists of some stores were set. */
export const completePrices = (prices: readonly Price[]): Price[] => [
  ...prices,
  ...TELEMETRY_METER_NAMES.filter((name) => !prices.some((price) => price.meter === name && isForAll(price))).map(
    (meter) => ({ meter, price: '0' }),
  ),
];

const isForAll = ({ tier, region }: Price): boolean => tier === undefined && region === undefined;

/** The list prices of the hosted service, in CHC; telemetry is free. They apply until other prices are set. */
export const LIST_PRICES: PriceBook = {
  version: 1,
  effectiveFrom: '1970-01-01',
  prices: completePrices([
    { meter: 'compute', entityType: 'service', tier: 'BASIC', price: '0.2181' },
    { meter: 'compute', entityType: 'service', tier: 'SCALE', price: '0.2985' },
    { meter: 'compute', entityType: 'service', tier: 'ENTERPRISE', price: '0.3903' },
    { meter: 'compute', entityType: 'clickpipe', price: '0.20' },
    { meter: 'storage', price: '25.30' },
    { meter: 'backup', price: '25.30' },
    { meter: 'publicDataTransfer', price: '0.1152' },
    { meter: 'interRegionTier1DataTransfer', price: '0.0312' },
    { meter: 'interRegionTier2DataTransfer', price: '0.0720' },
    { meter: 'interRegionTier3DataTransfer', price: '0.1200' },
    { meter: 'interRegionTier4DataTransfer', price: '0.1620' },
    { meter: 'dataTransfer', price: '0.04' },
    { meter: 'initialLoad', price: '0.04' },
  ]),
};
