import type { EntityType } from './entity.ts';

/** One kind of usage. */
export interface Meter {
  /** Name in reports. */
  label: string;
  /** The entities it is metered for. */
  entityTypes: readonly EntityType[];
  /** The unit of metered quantities. */
  unit: 'unit-minutes' | 'byte-hours' | 'bytes';
  /** The unit that prices refer to. */
  pricingUnit: string;
  unitsPerPricingUnit: bigint;
  /** Units in FOCUS exports. The consumed unit is `10^consumedExponent` times `unit`. */
  focus: { pricingUnit: string; consumedUnit: string; consumedExponent: number };
}

const GB = 10n ** 9n;
const TB = 10n ** 12n;
/** A billing month has 30.5 days, as in the published price examples. */
export const HOURS_PER_MONTH = 732;

const stored = (label: string): Meter => ({
  label,
  entityTypes: ['datawarehouse'],
  unit: 'byte-hours',
  pricingUnit: 'TB-months',
  unitsPerPricingUnit: TB * BigInt(HOURS_PER_MONTH),
  focus: { pricingUnit: 'TB-Months', consumedUnit: 'GB-Hours', consumedExponent: 9 },
});

const transferred = (label: string, entityType: EntityType): Meter => ({
  label,
  entityTypes: [entityType],
  unit: 'bytes',
  pricingUnit: 'GB',
  unitsPerPricingUnit: GB,
  focus: { pricingUnit: 'GB', consumedUnit: 'GB', consumedExponent: 9 },
});

/** The meters of the metrics of cost records, by the same names. Responses and exports list metrics in this order, each as `<name>CHC`. */
const METRIC_METERS = {
  backup: stored('Backup'),
  compute: {
    label: 'Compute',
    entityTypes: ['service', 'clickpipe'],
    unit: 'unit-minutes',
    pricingUnit: 'unit-hours',
    unitsPerPricingUnit: 60n,
    focus: { pricingUnit: 'Unit-Hours', consumedUnit: 'Unit-Minutes', consumedExponent: 0 },
  },
  dataTransfer: transferred('Data transfer', 'clickpipe'),
  initialLoad: transferred('Initial load', 'clickpipe'),
  interRegionTier1DataTransfer: transferred('Inter-region data transfer, tier 1', 'service'),
  interRegionTier2DataTransfer: transferred('Inter-region data transfer, tier 2', 'service'),
  interRegionTier3DataTransfer: transferred('Inter-region data transfer, tier 3', 'service'),
  interRegionTier4DataTransfer: transferred('Inter-region data transfer, tier 4', 'service'),
  publicDataTransfer: transferred('Public data transfer', 'service'),
  storage: stored('Storage'),
} as const satisfies Record<string, Meter>;

/** A metric of cost records. Their shape is that of the public interface. */
export type Metric = keyof typeof METRIC_METERS;
export const METRICS = Object.keys(METRIC_METERS) as readonly Metric[];

/** What telemetry is stored, by signal. It is free unless a price book says otherwise. */
const TELEMETRY_METERS = {
  telemetryLogs: transferred('Telemetry, logs', 'clickpipe'),
  telemetryMetrics: transferred('Telemetry, metrics', 'clickpipe'),
  telemetryTraces: transferred('Telemetry, traces', 'clickpipe'),
} as const satisfies Record<string, Meter>;

type TelemetryMeter = keyof typeof TELEMETRY_METERS;
export const TELEMETRY_METER_NAMES = Object.keys(TELEMETRY_METERS) as readonly TelemetryMeter[];

/** Every meter. */
export const METERS = { ...METRIC_METERS, ...TELEMETRY_METERS };
export type MeterName = keyof typeof METERS;
export const METER_NAMES = Object.keys(METERS) as readonly MeterName[];

/** The metric that has the cost of a meter. Cost records have none for telemetry: it counts as transfer of data into the system. */
export const toMetric = (meter: MeterName): Metric => (meter in METRIC_METERS ? (meter as Metric) : 'dataTransfer');
