import { AppError } from '../../kernel/errors.ts';
import type { Db } from '../../state/tables.ts';
import { METRICS, type Metric, totalMicros } from '../cost.ts';
import type { Window } from '../window.ts';
import { before, periodsOf, type Step } from './period.ts';
import { type Grouping, type Sum, sumRanges } from './store.ts';

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
  return {
    /** A row for every period and group that cost something in it or in the period it is compared with. */
    async of(organizationId: string, window: Window, step: Step, grouping: Grouping): Promise<Summary> {
      const periods = periodsOf(window, step);
      const totals = [window, before(window)];
      const ranges = distinct([...periods, ...periods.map(({ previous }) => previous)]);
      const [sums, totalSums] = await Promise.all([
        sumRanges(db, organizationId, ranges, grouping, MAX_ROWS + 1),
        sumRanges(db, organizationId, totals, 'none', MAX_ROWS),
      ]);
      if (sums.length > MAX_ROWS)
        throw new AppError(
          'bad_request',
          `The summary would have more than ${MAX_ROWS} rows; ask for longer periods, fewer days or larger groups, or take the export`,
        );
      const byRange = ranges.map(() => new Map<string, Sum>());
      for (const sum of sums) merge(byRange[sum.range], sum);
      const found = new Map(ranges.map((range, index) => [idOf(range), byRange[index] ?? new Map<string, Sum>()]));
      const rows = periods.flatMap((period) => {
        const now = found.get(idOf(period)) ?? new Map<string, Sum>();
        const earlier = found.get(idOf(period.previous)) ?? new Map<string, Sum>();
        return [...new Set([...now.keys(), ...earlier.keys()])]
          .map((group) => rowOf(period, now.get(group), earlier.get(group)))
          .sort(byGroup);
      });
      const total = (range: number) => totalSums.find((sum) => sum.range === range)?.micros ?? nothing();
      return {
        rows: grouping === 'metric' ? rows.flatMap(byMetric) : rows,
        totals: { ...window, micros: total(0), previous: { ...before(window), micros: total(1) } },
      };
    },
  };
}

const idOf = ({ from, to }: Window): string => `${from} ${to}`;
const distinct = (windows: readonly Window[]): Window[] => [
  ...new Map(windows.map((window) => [idOf(window), { from: window.from, to: window.to }])).values(),
];
const nothing = (): Micros => Object.fromEntries(METRICS.map((metric) => [metric, 0])) as Micros;

/** An entity that was renamed goes by its last name. */
function merge(groups: Map<string, Sum> | undefined, sum: Sum): void {
  const id = `${sum.entityType} ${sum.entityId ?? sum.dataWarehouseId}`;
  const known = groups?.get(id);
  if (!known) return void groups?.set(id, sum);
  for (const metric of METRICS) known.micros[metric] += sum.micros[metric];
  if (sum.lastDay > known.lastDay) Object.assign(known, { name: sum.name, lastDay: sum.lastDay });
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
    Buffer.compare(Buffer.from(a.name ?? ''), Buffer.from(b.name ?? '')) ||
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
