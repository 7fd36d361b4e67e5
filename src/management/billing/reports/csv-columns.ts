import { formatLine, textCell } from '../../../kernel/csv.ts';
import { formatChc } from '../../../kernel/numbers/money.ts';
import { type Cost, totalMicros } from '../cost.ts';
import { METRICS } from '../meter.ts';

interface CsvColumn {
  name: string;
  cell(cost: Cost): string;
}

/** The columns of the CSV export, with the names of the fields in `usageCost`. Add a column here. */
const CSV_COLUMNS: readonly CsvColumn[] = [
  { name: 'date', cell: (cost) => cost.date },
  { name: 'entityType', cell: (cost) => cost.entityType },
  { name: 'entityId', cell: (cost) => textCell(cost.entityId) },
  { name: 'entityName', cell: (cost) => textCell(cost.entityName) },
  { name: 'serviceId', cell: (cost) => textCell(cost.serviceId ?? '') },
  { name: 'dataWarehouseId', cell: (cost) => textCell(cost.dataWarehouseId) },
  { name: 'locked', cell: (cost) => String(cost.isLocked) },
  ...METRICS.map((metric) => ({ name: `${metric}CHC`, cell: (cost: Cost) => formatChc(cost.micros[metric]) })),
  { name: 'totalCHC', cell: (cost) => formatChc(totalMicros(cost.micros)) },
];

export const CSV_HEADER = formatLine(CSV_COLUMNS.map(({ name }) => name));

/** One line per cost record. */
export const formatCsvLine = (cost: Cost): string => formatLine(CSV_COLUMNS.map(({ cell }) => cell(cost)));
