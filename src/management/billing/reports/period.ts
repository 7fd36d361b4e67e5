import { addDays, countDaysBetween, type Day, listDaysBetween } from '../../../kernel/time/days.ts';
import type { Window } from '../window.ts';

export const PERIOD_LENGTHS = ['day', 'week', 'month', 'all'] as const;
export type PeriodLength = (typeof PERIOD_LENGTHS)[number];

/** A period of a report, cut off at the ends of the window, and the period it is compared with. */
export interface Period extends Window {
  /** `2026-10-01`, `2026-W40`, `2026-10`, or `2026-10-01/2026-10-31` for the whole window. */
  name: string;
  previous: Window;
}

/**
 * The periods of a window, in order. Each is compared with the previous day, the same weekdays of the previous week,
 * the same days of the previous month, or the same number of days before the window.
 */
export function listPeriods(window: Window, length: PeriodLength): Period[] {
  if (length === 'all')
    return [{ name: `${window.from}/${window.to}`, ...window, previous: getPrecedingWindow(window) }];
  const periods: Period[] = [];
  for (const day of listDaysBetween(window.from, window.to)) {
    const name = NAMES[length](day);
    const last = periods.at(-1);
    if (last?.name === name) last.to = day;
    else periods.push({ name, from: day, to: day, previous: { from: day, to: day } });
  }
  for (const period of periods) period.previous = PREVIOUS[length](period, 1);
  return periods;
}

/** As many periods earlier, so a window of one period is compared like that period. */
export const getPreviousWindow = (window: Window, length: PeriodLength): Window =>
  length === 'all' ? getPrecedingWindow(window) : PREVIOUS[length](window, listPeriods(window, length).length);

/** The same number of days, directly before. */
function getPrecedingWindow({ from, to }: Window): Window {
  return { from: addDays(from, -(countDaysBetween(from, to) + 1)), to: addDays(from, -1) };
}

const NAMES: Record<Exclude<PeriodLength, 'all'>, (day: Day) => string> = {
  day: (day) => day,
  week: formatIsoWeek,
  month: (day) => day.slice(0, 7),
};

const shiftBack = (days: number) => (window: Window, count: number) => ({
  from: addDays(window.from, -days * count),
  to: addDays(window.to, -days * count),
});

/** So many periods earlier. */
const PREVIOUS: Record<Exclude<PeriodLength, 'all'>, (window: Window, count: number) => Window> = {
  day: shiftBack(1),
  week: shiftBack(7),
  month: ({ from, to }, count) => ({
    from: shiftMonthsBack(from, count),
    to: isMonthEnd(to) ? getEarlierMonthEnd(to, count) : shiftMonthsBack(to, count),
  }),
};

/** ISO 8601: weeks start on Monday and belong to the year of their Thursday. */
export function formatIsoWeek(day: Day): string {
  const thursday = addDays(day, 3 - getWeekday(day));
  const year = thursday.slice(0, 4);
  const week = Math.floor(countDaysBetween(`${year}-01-01`, thursday) / 7) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** 0 is Monday. */
export function getWeekday(day: Day): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
}

const isMonthEnd = (day: Day): boolean => addDays(day, 1).slice(5, 7) !== day.slice(5, 7);

/** The last day of the month that is so many months earlier. */
function getEarlierMonthEnd(day: Day, count: number): Day {
  let end = day;
  for (let month = 0; month < count; month++) end = addDays(`${end.slice(0, 7)}-01`, -1);
  return end;
}

/** The same day of an earlier month, or its last day if that month is shorter. */
function shiftMonthsBack(day: Day, count: number): Day {
  const end = getEarlierMonthEnd(day, count);
  return day.slice(8) > end.slice(8) ? end : `${end.slice(0, 7)}${day.slice(7)}`;
}
