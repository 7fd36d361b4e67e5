import { AppError } from '../../../kernel/errors.ts';
import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import { addDays, countDaysBetween, type Day } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { addMicros, compareBytes, compareText, type MetricMicros, zeroMicros } from '../cost.ts';
import { METRICS, type Metric } from '../meter.ts';
import type { Window } from '../window.ts';
import type { Grouping } from './grouping.ts';
import { getPreviousWindow, listPeriods, type Period, type PeriodLength } from './period.ts';
import { type GroupCost, MAX_SLICES, type Slice, sumSlices } from './store.ts';

export type Summaries = ReturnType<typeof createSummaries>;

/** The cost of one group in one period, and in the period it is compared with. */
export interface SummaryRow extends Window {
  period: string;
  group: Pick<GroupCost, 'entityType' | 'entityId' | 'dataWarehouseId' | 'name'> & { metric?: Metric };
  micros: MetricMicros;
  previous: Window & { micros: MetricMicros };
}

export interface Summary {
  rows: SummaryRow[];
  totals: Window & { micros: MetricMicros; previous: Window & { micros: MetricMicros } };
}

/** Enough for a year and a month. */
export const MAX_SUMMARY_DAYS = 400;
const MAX_ROWS = 50_000;

/** The costs of one range by group. */
type Groups = Map<string, GroupCost>;

export function createSummaries({ db }: { db: Db }) {
  /** Returns the groups of each range. */
  async function sumRanges(organizationId: string, ranges: readonly Window[], grouping: Grouping): Promise<Groups[]> {
    const groupsByRange = ranges.map((): Groups => new Map());
    let groupCount = 0;
    for (const slices of planQueries(ranges)) {
      for (const cost of await sumSlices(db, organizationId, slices, grouping))
        if (addToGroup(groupsByRange[cost.range], cost) === 'new') groupCount++;
      if (groupCount > MAX_ROWS)
        throw new AppError(
          'bad_request',
          `The summary would have more than ${MAX_ROWS} rows. Request longer periods, fewer days or larger groups, or use the export`,
        );
      await yieldToEventLoop();
    }
    return groupsByRange;
  }

  return {
    /** The cost of each day, in the order of `days`. */
    async listDailyCosts(organizationId: string, days: readonly Day[]): Promise<MetricMicros[]> {
      const groupsByDay = await sumRanges(
        organizationId,
        days.map((day) => ({ from: day, to: day })),
        'none',
      );
      return groupsByDay.map(sumGroups);
    },

    /** A row for each period and group with a cost in the period or in the period it is compared with. */
    async get(organizationId: string, window: Window, length: PeriodLength, grouping: Grouping): Promise<Summary> {
      const periods = listPeriods(window, length);
      const ranges = removeDuplicates([...periods, ...periods.map(({ previous }) => previous)]);
      const groupsByRange = await sumRanges(organizationId, ranges, grouping);
      const groups = new Map(ranges.map((range, index) => [rangeKey(range), groupsByRange[index]]));
      const preceding = getPreviousWindow(window, length);
      const [precedingGroups = new Map()] = await sumRanges(organizationId, [preceding], 'none');
      const rows = periods.flatMap((period) =>
        listRows(period, groups.get(rangeKey(period)), groups.get(rangeKey(period.previous))),
      );
      return {
        rows: grouping === 'metric' ? rows.flatMap(splitByMetric) : rows,
        totals: {
          ...window,
          micros: addMicros(rows.map(({ micros }) => micros)),
          previous: { ...preceding, micros: sumGroups(precedingGroups) },
        },
      };
    },
  };
}

/** A query reads about a month at most: libSQL blocks the event loop while it runs. */
const MAX_DAYS_PER_QUERY = 31;

/** Splits ranges into slices of at most a month, and groups the slices into queries. */
function planQueries(ranges: readonly Window[]): Slice[][] {
  const queries: Slice[][] = [];
  let days = 0;
  for (const [range, { from, to }] of ranges.entries()) {
    const rangeDays = countDaysBetween(from, to) + 1;
    for (let offset = 0; offset < rangeDays; offset += MAX_DAYS_PER_QUERY) {
      const length = Math.min(MAX_DAYS_PER_QUERY, rangeDays - offset);
      const slice = { range, from: addDays(from, offset), to: addDays(from, offset + length - 1) };
      const query = queries.at(-1);
      if (!query || query.length === MAX_SLICES || days + length > MAX_DAYS_PER_QUERY) {
        queries.push([slice]);
        days = length;
      } else {
        query.push(slice);
        days += length;
      }
    }
  }
  return queries;
}

const rangeKey = ({ from, to }: Window): string => `${from} ${to}`;

const removeDuplicates = (windows: readonly Window[]): Window[] => [
  ...new Map(windows.map(({ from, to }) => [rangeKey({ from, to }), { from, to }])).values(),
];

const sumGroups = (groups: Groups): MetricMicros => addMicros([...groups.values()].map(({ micros }) => micros));

/** A renamed entity is listed under its latest name. */
function addToGroup(groups: Groups | undefined, cost: GroupCost): 'new' | 'existing' {
  const key = `${cost.entityType} ${cost.entityId ?? cost.dataWarehouseId}`;
  const group = groups?.get(key);
  if (!group) {
    groups?.set(key, cost);
    return 'new';
  }
  for (const metric of METRICS) group.micros[metric] += cost.micros[metric];
  if (cost.lastDay > group.lastDay)
    Object.assign(group, {
      name: cost.name ?? group.name,
      lastDay: cost.lastDay,
      dataWarehouseId: cost.dataWarehouseId,
    });
  return 'existing';
}

function listRows(period: Period, current: Groups = new Map(), previous: Groups = new Map()): SummaryRow[] {
  return [...new Set([...current.keys(), ...previous.keys()])]
    .map((key) => toRow(period, current.get(key), previous.get(key)))
    .sort(compareGroups);
}

function toRow({ name, from, to, previous }: Period, current?: GroupCost, earlier?: GroupCost): SummaryRow {
  const { entityType, entityId, dataWarehouseId, name: groupName } = (current ?? earlier) as GroupCost;
  return {
    period: name,
    from,
    to,
    group: { entityType, entityId, dataWarehouseId, name: groupName },
    micros: current?.micros ?? zeroMicros(),
    previous: { ...previous, micros: earlier?.micros ?? zeroMicros() },
  };
}

/** The same order as cost records of a day (U1). */
function compareGroups({ group: a }: SummaryRow, { group: b }: SummaryRow): number {
  return (
    compareText(a.entityType, b.entityType) ||
    compareBytes(a.name ?? '', b.name ?? '') ||
    compareText(a.entityId ?? a.dataWarehouseId, b.entityId ?? b.dataWarehouseId)
  );
}

/** One row for each metric with a cost. */
function splitByMetric(row: SummaryRow): SummaryRow[] {
  const only = (metric: Metric, micros: MetricMicros): MetricMicros => ({ ...zeroMicros(), [metric]: micros[metric] });
  return METRICS.filter((metric) => row.micros[metric] !== 0 || row.previous.micros[metric] !== 0).map((metric) => ({
    ...row,
    group: { ...row.group, metric },
    micros: only(metric, row.micros),
    previous: { ...row.previous, micros: only(metric, row.previous.micros) },
  }));
}
