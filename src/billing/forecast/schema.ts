import Type, { type Static } from 'typebox';
import { isoSeconds } from '../../kernel/clock.ts';
import { chcFromMicros } from '../../kernel/money.ts';
import { ExtendedServiceRecord, toExtendedRecord } from '../../services/schema.ts';
import { sumOf } from '../reports/summaries.ts';
import { Chc, Metrics, wireMetrics } from '../schema.ts';
import type { Forecast } from './forecasts.ts';
import type { MonthlyCost, ScalingCosts } from './scaling-costs.ts';

const Month = (description: string) => Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$', description });

export const ForecastQuery = Type.Object(
  { month: Type.Optional(Month('YYYY-MM, at most a year ahead; the current month when left out')) },
  { additionalProperties: false },
);

export const UsageCostForecast = Type.Object({
  month: Type.String(),
  asOf: Type.String({ format: 'date-time' }),
  monthToDate: Type.Object({
    through: Type.Optional(Type.String({ format: 'date', description: 'The last day that is in it' })),
    metrics: Metrics,
    totalCHC: Chc,
  }),
  forecast: Type.Object(
    { lowCHC: Chc, expectedCHC: Chc, highCHC: Chc },
    { description: 'The end of the month; at least 8 of 10 end within low and high' },
  ),
  metrics: Metrics,
  previousMonth: Type.Object({ month: Type.String(), metrics: Metrics, totalCHC: Chc }),
  changeCHC: Type.Number({ description: 'What is expected, less the month before' }),
  changePercent: Type.Optional(Type.Number({ description: 'Absent where the month before cost nothing' })),
  historyDays: Type.Integer({ description: 'How many days the forecast is made from' }),
  days: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), expected: Type.Boolean(), totalCHC: Chc })),
});

export function forecastRecord(forecast: Forecast): Static<typeof UsageCostForecast> {
  const { toDate, previousMonth, expected } = forecast;
  const before = sumOf(previousMonth.micros);
  return {
    month: forecast.month,
    asOf: isoSeconds(forecast.asOf),
    monthToDate: {
      ...(toDate.through === undefined ? {} : { through: toDate.through }),
      metrics: wireMetrics(toDate.micros),
      totalCHC: chcFromMicros(sumOf(toDate.micros)),
    },
    forecast: {
      lowCHC: chcFromMicros(forecast.low),
      expectedCHC: chcFromMicros(expected),
      highCHC: chcFromMicros(forecast.high),
    },
    metrics: wireMetrics(forecast.micros),
    previousMonth: {
      month: previousMonth.month,
      metrics: wireMetrics(previousMonth.micros),
      totalCHC: chcFromMicros(before),
    },
    changeCHC: chcFromMicros(expected - before),
    ...(before === 0 ? {} : { changePercent: Math.round((1000 * (expected - before)) / before) / 10 }),
    historyDays: forecast.historyDays,
    days: forecast.days.map(({ date, isExpected, micros }) => ({
      date,
      expected: isExpected,
      totalCHC: chcFromMicros(sumOf(micros)),
    })),
  };
}

const Range = Type.Object({ min: Chc, max: Chc });

export const ScalingPreview = Type.Object({
  service: ExtendedServiceRecord,
  monthlyCost: Type.Object(
    { before: Range, after: Range },
    { description: 'CHC for compute in a month of 732 hours, at the smallest and at the largest size; 0 while idle' },
  ),
});

type Preview = Awaited<ReturnType<ScalingCosts['preview']>>;

export function previewRecord({ service, before, after }: Preview): Static<typeof ScalingPreview> {
  return { service: toExtendedRecord(service), monthlyCost: { before: range(before), after: range(after) } };
}

const range = ({ min, max }: MonthlyCost) => ({ min: chcFromMicros(min), max: chcFromMicros(max) });
