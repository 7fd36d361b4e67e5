import type { CostRecord } from '../../api/types.ts';
import { formatMetric } from './metrics.ts';
import type { Grouping } from './search.ts';

/** Whole micro-CHC, so that sums are exact. */
type Micros = number;
const MICROS_PER_CREDIT = 1_000_000;
export const toCredits = (micros: Micros): number => micros / MICROS_PER_CREDIT;
export const toMicros = (credits: number): Micros => Math.round(credits * MICROS_PER_CREDIT);

export interface CostGroup {
  id: string;
  label: string;
  total: Micros;
  /** One amount per day of the span. */
  days: Micros[];
}

export interface Breakdown {
  days: string[];
  /** Largest first; groups without costs are omitted. */
  groups: CostGroup[];
  dayTotals: Micros[];
  /** Days that are not locked yet. */
  openDays: ReadonlySet<string>;
  total: Micros;
  open: Micros;
}

interface CostPart {
  id: string;
  label: string;
  micros: Micros;
}

export function createBreakdown(costs: readonly CostRecord[], days: string[], by: Grouping): Breakdown {
  const splitRecord = SPLITTERS[by](costs);
  const place = new Map(days.map((day, index) => [day, index]));
  const groups = new Map<string, CostGroup>();
  const dayTotals = days.map(() => 0);
  const openDays = new Set<string>();
  let open = 0;
  for (const cost of costs) {
    const at = place.get(cost.date);
    if (at === undefined) continue;
    if (!cost.locked) openDays.add(cost.date);
    for (const { id, label, micros } of splitRecord(cost)) {
      const group = groups.get(id) ?? { id, label, total: 0, days: days.map(() => 0) };
      groups.set(id, group);
      group.total += micros;
      group.days[at] = (group.days[at] ?? 0) + micros;
      dayTotals[at] = (dayTotals[at] ?? 0) + micros;
      if (!cost.locked) open += micros;
    }
  }
  return {
    days,
    groups: [...groups.values()].filter(({ total }) => total !== 0).toSorted((a, b) => b.total - a.total),
    dayTotals,
    openDays,
    total: dayTotals.reduce((sum, micros) => sum + micros, 0),
    open,
  };
}

/** Splits a record into parts. The outer function collects names first: the name of a warehouse is on its own record. */
const SPLITTERS: Record<Grouping, (costs: readonly CostRecord[]) => (cost: CostRecord) => CostPart[]> = {
  metric:
    () =>
    ({ metrics }) =>
      Object.entries(metrics).map(([metric, credits]) => ({
        id: metric,
        label: formatMetric(metric),
        micros: toMicros(credits),
      })),
  service: (costs) => {
    const label = createLabeler(costs.map(({ entityId, entityName }) => [entityId, entityName]));
    return ({ entityId, totalCHC }) => [{ id: entityId, label: label(entityId), micros: toMicros(totalCHC) }];
  },
  warehouse: (costs) => {
    const label = createLabeler(
      costs.flatMap(({ entityType, entityId, entityName }) =>
        entityType === 'datawarehouse' ? [[entityId, entityName] as [string, string]] : [],
      ),
    );
    return ({ dataWarehouseId, totalCHC }) => [
      { id: dataWarehouseId, label: label(dataWarehouseId), micros: toMicros(totalCHC) },
    ];
  },
};

/** Labels by the latest name; the ID is added to duplicate names. */
function createLabeler(named: [id: string, name: string][]): (id: string) => string {
  const names = new Map(named);
  const count = new Map<string, number>();
  for (const name of names.values()) count.set(name, (count.get(name) ?? 0) + 1);
  return (id) => {
    const name = names.get(id);
    const short = id.slice(0, 8);
    return name === undefined ? short : (count.get(name) ?? 0) > 1 ? `${name} (${short})` : name;
  };
}

/** The breakdown of one of its days. */
export function pickDay({ days, groups, dayTotals, openDays }: Breakdown, day: string): Breakdown {
  const at = days.indexOf(day);
  const total = dayTotals[at] ?? 0;
  return {
    days: [day],
    groups: groups
      .map((group) => ({ ...group, total: group.days[at] ?? 0, days: [group.days[at] ?? 0] }))
      .filter((group) => group.total !== 0)
      .toSorted((a, b) => b.total - a.total),
    dayTotals: [total],
    openDays: new Set(openDays.has(day) ? [day] : []),
    total,
    open: openDays.has(day) ? total : 0,
  };
}
