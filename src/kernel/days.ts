import { DAY_MS, parseDate, parseDateTime } from './clock.ts';

/** A UTC day as `YYYY-MM-DD`: sorts as text, compares as text. */
export type Day = string;

export function toUtcDay(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10);
}

/** A plain date, or the UTC day of a date-time; undefined when it is neither. */
export function parseDay(text: string): Day | undefined {
  const ms = parseDate(text) ?? parseDateTime(text, { offset: 'optional' });
  return ms === undefined || ms < FIRST_DAY_MS ? undefined : toUtcDay(ms);
}

const FIRST_DAY_MS = Date.parse('0001-01-01T00:00:00Z');

export function addDays(day: Day, count: number): Day {
  return toUtcDay(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS);
}

/** How many days lie from one to the other; 0 for the same day, negative when `to` is earlier. */
export function countDaysBetween(from: Day, to: Day): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

/** Every day from one to the other, both included; none when `to` is earlier. Counted, since the day after 9999-12-31 has no name. */
export function listDaysBetween(from: Day, to: Day): Day[] {
  return Array.from({ length: Math.max(0, countDaysBetween(from, to) + 1) }, (_, count) => addDays(from, count));
}
