import Type, { type Static } from 'typebox';
import { chcFromMicros } from '../../../kernel/numbers/money.ts';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { type MetricMicros, totalMicros } from '../cost.ts';
import { ENTITY_TYPES } from '../entity.ts';
import { METRICS } from '../meter.ts';
import { Chc, FromDate, Metrics, toMetricsRecord } from '../schema.ts';
import type { Window } from '../window.ts';
import { EXPORT_FORMATS } from './exports.ts';
import { GROUPINGS } from './grouping.ts';
import { PERIOD_LENGTHS } from './period.ts';
import { MAX_SUMMARY_DAYS, type Summary, type SummaryRow } from './summaries.ts';

const dateRange = (limit: string) => ({
  from_date: FromDate,
  to_date: Type.String({ description: `Last day, inclusive${limit}` }),
});

export const SummaryQuery = Type.Object(
  {
    ...dateRange(`; at most ${MAX_SUMMARY_DAYS - 1} days after from_date`),
    by: Type.Optional(
      Type.Enum([...PERIOD_LENGTHS], {
        description: 'Length of the periods: day (default), ISO week, month, or the whole range',
      }),
    ),
    group: Type.Optional(Type.Enum([...GROUPINGS], { description: 'How rows are grouped; default: none' })),
  },
  { additionalProperties: false },
);

export const ExportQuery = Type.Object(
  {
    ...dateRange(''),
    format: Type.Optional(
      Type.Enum([...EXPORT_FORMATS], { description: 'csv (default): one line per cost record; focus: FOCUS 1.2' }),
    ),
  },
  { additionalProperties: false },
);

const Amounts = {
  from: Type.String({ format: 'date' }),
  to: Type.String({ format: 'date', description: 'Inclusive' }),
  metrics: Type.Optional(Metrics),
  totalCHC: Chc,
};
const ComparedAmounts = {
  ...Amounts,
  changeCHC: Type.Number({ description: 'totalCHC minus the totalCHC of the previous period' }),
  previous: Type.Object(Amounts, { description: 'The period it is compared with' }),
};

const SummaryRecord = NamedObject('UsageCostSummaryRow', {
  period: Type.String({ description: '2026-10-01, 2026-W40, 2026-10, or 2026-10-01/2026-10-31' }),
  entityType: Type.Optional(Type.Enum([...ENTITY_TYPES])),
  entityId: Type.Optional(Type.String()),
  entityName: Type.Optional(Type.String()),
  dataWarehouseId: Type.Optional(Type.String()),
  dataWarehouseName: Type.Optional(Type.String()),
  metric: Type.Optional(Type.Enum([...METRICS])),
  ...ComparedAmounts,
});

export const UsageCostSummary = NamedObject('UsageCostSummary', {
  rows: Type.Array(SummaryRecord),
  totals: Type.Object(ComparedAmounts, {
    description:
      'The whole range, compared with the range that is as many periods earlier; a range of one period is compared like its row',
  }),
});

export function toSummaryRecord({ rows, totals }: Summary): Static<typeof UsageCostSummary> {
  return { rows: rows.map(toRowRecord), totals: toComparedAmounts(totals, true) };
}

function toRowRecord(row: SummaryRow): Static<typeof SummaryRecord> {
  const { entityType, entityId, dataWarehouseId, name, metric } = row.group;
  const isEntity = entityId !== undefined;
  return {
    period: row.period,
    ...(entityType === undefined ? {} : { entityType }),
    ...(isEntity ? { entityId } : {}),
    ...(isEntity && name !== undefined ? { entityName: name } : {}),
    ...(dataWarehouseId === undefined ? {} : { dataWarehouseId }),
    ...(!isEntity && name !== undefined ? { dataWarehouseName: name } : {}),
    ...(metric === undefined ? {} : { metric }),
    ...toComparedAmounts(row, metric === undefined),
  };
}

type PeriodCost = Window & { micros: MetricMicros };

function toComparedAmounts(period: PeriodCost & { previous: PeriodCost }, hasMetrics: boolean) {
  return {
    ...toAmounts(period, hasMetrics),
    changeCHC: chcFromMicros(totalMicros(period.micros) - totalMicros(period.previous.micros)),
    previous: toAmounts(period.previous, hasMetrics),
  };
}

function toAmounts({ from, to, micros }: PeriodCost, hasMetrics: boolean) {
  return {
    from,
    to,
    ...(hasMetrics ? { metrics: toMetricsRecord(micros) } : {}),
    totalCHC: chcFromMicros(totalMicros(micros)),
  };
}
