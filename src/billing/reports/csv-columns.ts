import { type Cost, METRICS, totalMicros } from '../cost.ts';
import { line, textCell } from './csv.ts';
import { chcText } from './quantity.ts';

const COLUMNS = [
  'date',
  'entityType',
  'entityId',
  'entityName',
  'serviceId',
  'dataWarehouseId',
  'locked',
  ...METRICS.map((metric) => `${metric}CHC`),
  'totalCHC',
];

export const CSV_HEADER = line(COLUMNS);

/** One line for one record of `usageCost`, under the same names. */
export function csvLine(cost: Cost): string {
  return line([
    cost.date,
    cost.entityType,
    textCell(cost.entityId),
    textCell(cost.entityName),
    textCell(cost.serviceId ?? ''),
    textCell(cost.dataWarehouseId),
    String(cost.isLocked),
    ...METRICS.map((metric) => chcText(cost.micros[metric])),
    chcText(totalMicros(cost)),
  ]);
}
