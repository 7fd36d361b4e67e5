import { rejectViolations, type Violation } from '../../kernel/errors.ts';
import { countDaysBetween, type Day, parseDay } from '../../kernel/time/days.ts';

/** A range of UTC days, both ends included. */
export interface Window {
  from: Day;
  to: Day;
}

const MAX_DAYS = 31;

/** Accepts dates, and date-times, which are converted to their UTC day. `maxDays` counts both ends. */
export function parseWindow(
  { from_date, to_date }: { from_date: string; to_date: string },
  maxDays: number = MAX_DAYS,
): Window {
  const rule = 'The value must be a date (YYYY-MM-DD) or an ISO 8601 date-time';
  const from = parseDay(from_date);
  const to = parseDay(to_date);
  const violations: Violation[] = [];
  if (from === undefined) violations.push({ path: 'from_date', rule, value: from_date });
  if (to === undefined) violations.push({ path: 'to_date', rule, value: to_date });
  if (from !== undefined && to !== undefined) {
    const span = countDaysBetween(from, to);
    if (span < 0) violations.push({ path: 'from_date', rule: 'The value must not be after to_date', value: from_date });
    if (span >= maxDays)
      violations.push({
        path: 'to_date',
        rule: `The value must be at most ${maxDays - 1} days after from_date`,
        value: to_date,
      });
  }
  rejectViolations(violations);
  return { from: from ?? '', to: to ?? '' };
}
