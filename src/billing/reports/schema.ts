import Type, { type Static } from 'typebox';
import { chcFromMicros } from '../../kernel/money.ts';
import { ENTITY_TYPES, METRICS } from '../cost.ts';
import { Chc, Metrics, wireMetrics } from '../schema.ts';
import { FORMATS } from './exports.ts';
import { GROUPINGS } from './grouping.ts';
import { STEPS } from './period.ts';
import { MAX_SUMMARY_DAYS, type Micros, type Summary, type SummaryRow, sumOf } from './summaries.ts';

const days = (limit: string) => ({
  from_date: Type.String({ description: 'First day, YYYY-MM-DD or an ISO 8601 date-time of which the UTC day counts' }),
  to_date: Type.String({ description: `Last day, included${limit}` }),
});

export const SummaryQuery = Type.Object(
  {
    ...days(`; at most ${MAX_SUMMARY_DAYS - 1} days after from_date`),
    by: Type.Optional(
      Type.Enum([...STEPS], {
        description: 'How long a period is: days (when left out), ISO weeks, months, or all days as one',
      }),
    ),
    group: Type.Optional(Type.Enum([...GROUPINGS], { description: 'What a row is about; none when left out' })),
  },
  { additionalProperties: false },
);

export const ExportQuery = Type.Object(
  {
    ...days(''),
    format: Type.Optional(
      Type.Enum([...FORMATS], { description: 'csv (when left out): one line per record; focus: FOCUS 1.2' }),
    ),
  },
  { additionalProperties: false },
);

const Amounts = {
  from: Type.String({ format: 'date' }),
  to: Type.String({ format: 'date', description: 'Included' }),
  metrics: Type.Optional(Metrics),
  totalCHC: Chc,
};
const Compared = {
  ...Amounts,
  changeCHC: Type.Number({ description: 'totalCHC less that of the period before' }),
  previous: Type.Object(Amounts, { description: 'The same stretch one period earlier' }),
};

export const SummaryRecord = Type.Object({
  period: Type.String({ description: '2026-10-01, 2026-W40, 2026-10, or 2026-10-01/2026-10-31' }),
  entityType: Type.Optional(Type.Enum([...ENTITY_TYPES])),
  entityId: Type.Optional(Type.String()),
  entityName: Type.Optional(Type.String()),
  dataWarehouseId: Type.Optional(Type.String()),
  dataWarehouseName: Type.Optional(Type.String()),
  metric: Type.Optional(Type.Enum([...METRICS])),
  ...Compared,
});

export const UsageCostSummary = Type.Object({
  rows: Type.Array(SummaryRecord),
  totals: Type.Object(Compared, { description: 'Of all days asked for, beside as many days right before them' }),
});

export function summaryRecord({ rows, totals }: Summary): Static<typeof UsageCostSummary> {
  return { rows: rows.map(rowRecord), totals: compared(totals, true) };
}

function rowRecord(row: SummaryRow): Static<typeof SummaryRecord> {
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
    ...compared(row, metric === undefined),
  };
}

type Stretch = { from: string; to: string; micros: Micros };

function compared(now: Stretch & { previous: Stretch }, hasMetrics: boolean) {
  return {
    ...amounts(now, hasMetrics),
    changeCHC: chcFromMicros(sumOf(now.micros) - sumOf(now.previous.micros)),
    previous: amounts(now.previous, hasMetrics),
  };
}

function amounts({ from, to, micros }: Stretch, hasMetrics: boolean) {
  return {
    from,
    to,
    ...(hasMetrics ? { metrics: wireMetrics(micros) } : {}),
    totalCHC: chcFromMicros(sumOf(micros)),
  };
}
