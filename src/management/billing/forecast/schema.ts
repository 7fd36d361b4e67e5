import Type, { type Static } from 'typebox';
import { chcFromMicros } from '../../../kernel/numbers/money.ts';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { PatternText } from '../../../kernel/schemas/pattern-text.ts';
import { type Clock, isoSeconds } from '../../../kernel/time/clock.ts';
import { CreateServiceBody } from '../../services/lifecycle/lifecycle-schema.ts';
import { ReplicaScalingBody, ServiceRecord, toServiceRecord } from '../../services/schema.ts';
import { totalMicros } from '../cost.ts';
import { Chc, Metrics, toMetricsRecord } from '../schema.ts';
import type { Forecast } from './forecasts.ts';
import type { MonthlyCost, ScalingCosts } from './scaling-costs.ts';

const Month = (description: string) =>
  PatternText(/^\d{4}-(0[1-9]|1[0-2])$/, 'The value must be a month (YYYY-MM)', description);

export const ForecastQuery = Type.Object(
  { month: Type.Optional(Month('YYYY-MM, at most a year ahead; default: the current month')) },
  { additionalProperties: false },
);

export const UsageCostForecast = NamedObject('UsageCostForecast', {
  month: Type.String(),
  asOf: Type.String({ format: 'date-time' }),
  monthToDate: Type.Object({
    through: Type.Optional(Type.String({ format: 'date', description: 'The last day included' })),
    metrics: Metrics,
    totalCHC: Chc,
  }),
  forecast: Type.Object(
    { lowCHC: Chc, expectedCHC: Chc, highCHC: Chc },
    { description: 'The total of the month; at least 8 of 10 months end between low and high' },
  ),
  metrics: Metrics,
  previousMonth: Type.Object({ month: Type.String(), metrics: Metrics, totalCHC: Chc }),
  changeCHC: Type.Number({ description: 'The expected total minus the total of the previous month' }),
  changePercent: Type.Optional(Type.Number({ description: 'Omitted when the previous month had no cost' })),
  historyDays: Type.Integer({ description: 'The number of days that the forecast is based on' }),
  days: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), expected: Type.Boolean(), totalCHC: Chc })),
});

export function toForecastRecord(forecast: Forecast): Static<typeof UsageCostForecast> {
  const { toDate, previousMonth, expected } = forecast;
  const previous = totalMicros(previousMonth.micros);
  return {
    month: forecast.month,
    asOf: isoSeconds(forecast.asOf),
    monthToDate: {
      ...(toDate.through === undefined ? {} : { through: toDate.through }),
      metrics: toMetricsRecord(toDate.micros),
      totalCHC: chcFromMicros(totalMicros(toDate.micros)),
    },
    forecast: {
      lowCHC: chcFromMicros(forecast.low),
      expectedCHC: chcFromMicros(expected),
      highCHC: chcFromMicros(forecast.high),
    },
    metrics: toMetricsRecord(forecast.micros),
    previousMonth: {
      month: previousMonth.month,
      metrics: toMetricsRecord(previousMonth.micros),
      totalCHC: chcFromMicros(previous),
    },
    changeCHC: chcFromMicros(expected - previous),
    ...(previous === 0 ? {} : { changePercent: Math.round((1000 * (expected - previous)) / previous) / 10 }),
    historyDays: forecast.historyDays,
    days: forecast.days.map(({ date, isExpected, micros }) => ({
      date,
      expected: isExpected,
      totalCHC: chcFromMicros(totalMicros(micros)),
    })),
  };
}

const MonthlyCostRange = NamedObject('MonthlyCostRange', {
  min: Chc,
  max: Chc,
  estimate: Type.Optional(
    Type.Number({ description: 'At the usage of the last 30 days; omitted if the service has no usage' }),
  ),
  replicas: Type.Integer({
    description:
      'The number of replicas of each shard that is billed at the maximum. A driver may run fewer than requested: an embedded service has one',
  }),
  shards: Type.Optional(
    Type.Integer({ description: 'The shards that the costs are for, with as many replicas each; absent for one' }),
  ),
});

export const ScalingPreview = NamedObject('ScalingPreview', {
  service: ServiceRecord,
  monthlyCost: Type.Object(
    { before: MonthlyCostRange, after: MonthlyCostRange },
    {
      description:
        'CHC for compute in a month of 732 hours, at the minimum and at the maximum size of the replicas of all shards that run; the minimum is 0 with idle scaling',
    },
  ),
  usageDays: Type.Integer({ description: 'The number of days that the estimate is based on; at most 30' }),
});

export const NewServicePreviewBody = NamedObject('ServicePreviewRequest', {
  provider: CreateServiceBody.properties.provider,
  region: CreateServiceBody.properties.region,
  tier: CreateServiceBody.properties.tier,
  driver: CreateServiceBody.properties.driver,
  ...ReplicaScalingBody.properties,
});

export const NewServicePreview = NamedObject('ServicePreview', {
  minReplicaMemoryGb: Type.Number(),
  maxReplicaMemoryGb: Type.Number(),
  numReplicas: Type.Integer(),
  idleScaling: Type.Boolean(),
  idleTimeoutMinutes: Type.Number(),
  monthlyCost: MonthlyCostRange,
});

export function toNewServicePreview({
  scaling,
  cost,
}: Awaited<ReturnType<ScalingCosts['previewNew']>>): Static<typeof NewServicePreview> {
  const { minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas, idleScaling, idleTimeoutMinutes } = scaling;
  return {
    minReplicaMemoryGb,
    maxReplicaMemoryGb,
    numReplicas,
    idleScaling,
    idleTimeoutMinutes,
    monthlyCost: toRange(cost),
  };
}

type Preview = Awaited<ReturnType<ScalingCosts['preview']>>;

export function toPreviewRecord(
  { service, before, after, usageDays }: Preview,
  clock: Clock,
): Static<typeof ScalingPreview> {
  return {
    service: toServiceRecord(service, clock),
    monthlyCost: { before: toRange(before), after: toRange(after) },
    usageDays,
  };
}

const toRange = ({ min, max, estimate, replicas, shards }: MonthlyCost) => ({
  replicas,
  ...(shards === 1 ? {} : { shards }),
  min: chcFromMicros(min),
  max: chcFromMicros(max),
  ...(estimate === undefined ? {} : { estimate: chcFromMicros(estimate) }),
});
