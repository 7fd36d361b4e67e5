import type { CostRecord } from '../../api/types.ts';
import { getOrderedColor } from '../../parts/costs/colors.ts';

/** `computeCHC`: the members of `metrics` in a cost record. */
type MetricName = keyof CostRecord['metrics'];

const METRIC_LABELS: Record<MetricName, string> = {
  computeCHC: 'Compute',
  storageCHC: 'Storage',
  backupCHC: 'Backup',
  dataTransferCHC: 'Data transfer',
  initialLoadCHC: 'Initial load',
  publicDataTransferCHC: 'Public data transfer',
  interRegionTier1DataTransferCHC: 'Inter-region transfer, tier 1',
  interRegionTier2DataTransferCHC: 'Inter-region transfer, tier 2',
  interRegionTier3DataTransferCHC: 'Inter-region transfer, tier 3',
  interRegionTier4DataTransferCHC: 'Inter-region transfer, tier 4',
};

const METRIC_NAMES = Object.keys(METRIC_LABELS);

/** Each meter has the same color on every page and in every range. */
export const getMetricColor = (metric: string, isDark: boolean): string =>
  getOrderedColor(Math.max(0, METRIC_NAMES.indexOf(metric)), isDark);

export const formatMetric = (metric: string): string => METRIC_LABELS[metric as MetricName] ?? metric;

/** `computeCHC` ↔ `compute`, the name of the meter in the URL. */
export const toMeter = (metric: string): string => metric.replace(/CHC$/, '');
export const toMetric = (meter: string): MetricName => `${meter}CHC` as MetricName;
