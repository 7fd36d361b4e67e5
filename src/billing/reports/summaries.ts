import { setImmediate as nextTurn } from 'node:timers/promises';
import { addDays, countDaysBetween, type Day } from '../../kernel/days.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Db } from '../../state/tables.ts';
import { byBytes, METRICS, type Metric, totalMicros } from '../cost.ts';
import type { Window } from '../window.ts';
import type { Grouping } from './grouping.ts';
import { before, periodsOf, type Step } from './period.ts';
import { MAX_SLICES, type Slice, type Sum, sumSlices } from './store.ts';

export type Summaries = ReturnType<typeof createSummaries>;

export type Micros = Record<Metric, number>;

/** What one group cost in one period, and in the one it is compared with. */
export interface SummaryRow extends Window {
  period: string;
  group: Pick<Sum, 'entityType' | 'entityId' | 'dataWarehouseId' | 'name'> & { metric?: Metric };
  micros: Micros;
  previous: Window & { micros: Micros };
}

export interface Summary {
  rows: SummaryRow[];
  totals: Window & { micros: Micros; previous: Window & { micros: Micros } };
}

/** Any span that a year and a month fit in. */
export const MAX_SUMMARY_DAYS = 400;
const MAX_ROWS = 50_000;

export function createSummaries({ db }: { db: Db }) {
  /** For each range its groups. */
  async function sums(organizationId: string, ranges: readonly Window[], grouping: Grouping): Promise<Groups[]> {
    const byRange = ranges.map((): Groups => new Map());
    let count = 0;
    for (const batch of batchesOf(ranges)) {
      const found = await sumSlices(db, organizationId, batch, grouping);
      for (const sum of found) count += merge(byRange[sum.range], sum);
      if (count > MAX_ROWS)
        throw new AppError(
          'bad_request',
          `The summary would have more than ${MAX_ROWS} rows; ask for longer periods, fewer days or larger groups, or take the export`,
        );
      await nextTurn();
    }
    return byRange;
  }

  return {
    /** What each of these days cost. */
    async perDay(organizationId: string, days: readonly Day[]): Promise<Micros[]> {
      const groups = await sums(
        organizationId,
        days.map((day) => ({ from: day, to: day })),
        'none',
      );
      return groups.map((group) => added([...group.values()].map(({ micros }) => micros)));
    },

    /** A row for every period and group that cost something in it or in the period it is compared with. */
    async of(organizationId: string, window: Window, step: Step, grouping: Grouping): Promise<Summary> {
      const periods = periodsOf(window, step);
      const ranges = distinct([...periods, ...periods.map(({ previous }) => previous)]);
      const byRange = await sums(organizationId, ranges, grouping);
      const [earlier] = await sums(organizationId, [before(window)], 'none');
      const found = new Map(ranges.map((range, index) => [idOf(range), byRange[index]]));
      const rows = periods.flatMap((period) => {
        const [now, then] = [found.get(idOf(period)), found.get(idOf(period.previous))];
        return [...new Set([...(now?.keys() ?? []), ...(then?.keys() ?? [])])]
          .map((group) => rowOf(period, now?.get(group), then?.get(group)))
          .sort(byGroup);
      });
      return {
        rows: grouping === 'metric' ? rows.flatMap(byMetric) : rows,
        totals: {
          ...window,
          micros: added(rows.map(({ micros }) => micros)),
          previous: { ...before(window), micros: added([...(earlier?.values() ?? [])].map(({ micros }) => micros)) },
        },
      };
    },
  };
}

type Groups = Map<string, Sum>;

/** About a month at a time: a store that answers at once would otherwise keep everybody waiting for a year. */
const DAYS_AT_ONCE = 31;

/** Ranges cut into slices of a month at most, and as many slices together as one query may read. */
function batchesOf(ranges: readonly Window[]): Slice[][] {
  const batches: Slice[][] = [];
  let days = 0;
  for (const [range, { from, to }] of ranges.entries()) {
    for (let start = from; start <= to; start = addDays(start, DAYS_AT_ONCE)) {
      const length = Math.min(DAYS_AT_ONCE, countDaysBetween(start, to) + 1);
      const end = addDays(start, length - 1);
      const batch = batches.at(-1);
      if (!batch || batch.length === MAX_SLICES || days + length > DAYS_AT_ONCE) {
        batches.push([{ range, from: start, to: end }]);
        days = length;
      } else {
        batch.push({ range, from: start, to: end });
        days += length;
      }
    }
  }
  return batches;
}

const idOf = ({ from, to }: Window): string => `${from} ${to}`;
const distinct = (windows: readonly Window[]): Window[] => [
  ...new Map(windows.map((window) => [idOf(window), { from: window.from, to: window.to }])).values(),
];
export const nothing = (): Micros => Object.fromEntries(METRICS.map((metric) => [metric, 0])) as Micros;

export function added(all: readonly Micros[]): Micros {
  const total = nothing();
  for (const micros of all) for (const metric of METRICS) total[metric] += micros[metric];
  return total;
}

/** Adds a sum to its group; answers 1 where that group is new. An entity that was renamed goes by its last name. */
function merge(groups: Groups | undefined, sum: Sum): number {
  const id = `${sum.entityType} ${sum.entityId ?? sum.dataWarehouseId}`;
  const known = groups?.get(id);
  if (!known) {
    groups?.set(id, sum);
    return 1;
  }
  for (const metric of METRICS) known.micros[metric] += sum.micros[metric];
  if (sum.lastDay > known.lastDay)
    Object.assign(known, { name: sum.name ?? known.name, lastDay: sum.lastDay, dataWarehouseId: sum.dataWarehouseId });
  return 0;
}

function rowOf({ name, from, to, previous }: ReturnType<typeof periodsOf>[number], now?: Sum, earlier?: Sum) {
  const { entityType, entityId, dataWarehouseId, name: called } = (now ?? earlier) as Sum;
  return {
    period: name,
    from,
    to,
    group: { entityType, entityId, dataWarehouseId, name: called },
    micros: now?.micros ?? nothing(),
    previous: { ...previous, micros: earlier?.micros ?? nothing() },
  };
}

/** As the records of a day are ordered (U1). */
function byGroup({ group: a }: SummaryRow, { group: b }: SummaryRow): number {
  return (
    byText(a.entityType, b.entityType) ||
    byBytes(a.name ?? '', b.name ?? '') ||
    byText(a.entityId ?? a.dataWarehouseId, b.entityId ?? b.dataWarehouseId)
  );
}

const byText = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/** One row for each metric that cost something. */
function byMetric(row: SummaryRow): SummaryRow[] {
  const only = (metric: Metric, micros: Micros): Micros => ({ ...nothing(), [metric]: micros[metric] });
  return METRICS.filter((metric) => row.micros[metric] !== 0 || row.previous.micros[metric] !== 0).map((metric) => ({
    ...row,
    group: { ...row.group, metric },
    micros: only(metric, row.micros),
    previous: { ...row.previous, micros: only(metric, row.previous.micros) },
  }));
}

export const sumOf = (micros: Micros): number => totalMicros({ micros });
