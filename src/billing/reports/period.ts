import { addDays, countDaysBetween, type Day, listDaysBetween } from '../../kernel/days.ts';
import type { Window } from '../window.ts';

export const STEPS = ['day', 'week', 'month', 'all'] as const;
export type Step = (typeof STEPS)[number];

/** A stretch of a report, cut off where the window ends, and the stretch it is compared with. */
export interface Period extends Window {
  /** `2026-10-01`, `2026-W40`, `2026-10`, or `2026-10-01/2026-10-31` for the whole window. */
  name: string;
  previous: Window;
}

/**
 * The periods of a window, in order. What stands beside each is the same stretch one step earlier: the day before, the
 * same weekdays of the week before, the same days of the month before, as many days before the window.
 */
export function periodsOf(window: Window, step: Step): Period[] {
  if (step === 'all') return [{ name: `${window.from}/${window.to}`, ...window, previous: before(window) }];
  const periods: Period[] = [];
  for (const day of listDaysBetween(window.from, window.to)) {
    const name = NAMES[step](day);
    const last = periods.at(-1);
    if (last?.name === name) last.to = day;
    else periods.push({ name, from: day, to: day, previous: { from: day, to: day } });
  }
  for (const period of periods) period.previous = PREVIOUS[step](period);
  return periods;
}

/** As many days, right before. */
export function before({ from, to }: Window): Window {
  return { from: addDays(from, -(countDaysBetween(from, to) + 1)), to: addDays(from, -1) };
}

const NAMES: Record<Exclude<Step, 'all'>, (day: Day) => string> = {
  day: (day) => day,
  week: isoWeek,
  month: (day) => day.slice(0, 7),
};

const shifted = (days: number) => (window: Window) => ({
  from: addDays(window.from, -days),
  to: addDays(window.to, -days),
});

const PREVIOUS: Record<Exclude<Step, 'all'>, (period: Window) => Window> = {
  day: shifted(1),
  week: shifted(7),
  month: ({ from, to }) => ({ from: monthBefore(from), to: isMonthEnd(to) ? endOfMonthBefore(to) : monthBefore(to) }),
};

/** ISO 8601: weeks begin on Monday and belong to the year of their Thursday. */
export function isoWeek(day: Day): string {
  const thursday = addDays(day, 3 - weekday(day));
  const year = thursday.slice(0, 4);
  const week = Math.floor(countDaysBetween(`${year}-01-01`, thursday) / 7) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** 0 is Monday. */
export function weekday(day: Day): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
}

const isMonthEnd = (day: Day): boolean => addDays(day, 1).slice(5, 7) !== day.slice(5, 7);
const endOfMonthBefore = (day: Day): Day => addDays(`${day.slice(0, 7)}-01`, -1);

/** The same day of the month before, or its last day where it is shorter. */
function monthBefore(day: Day): Day {
  const end = endOfMonthBefore(day);
  return day.slice(8) > end.slice(8) ? end : `${end.slice(0, 7)}${day.slice(7)}`;
}
