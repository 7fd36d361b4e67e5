import { DAY_MS, parseDate, parseDateTime } from './clock.ts';

/** A UTC day as `YYYY-MM-DD`, so that string order is time order. */
export type Day = string;

export function toUtcDay(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Parses a date, or the UTC day of a date-time; undefined if it is neither. */
export function parseDay(text: string): Day | undefined {
  const ms = parseDate(text) ?? parseDateTime(text, { offset: 'optional' });
  return ms === undefined || ms < FIRST_DAY_MS ? undefined : toUtcDay(ms);
}

const FIRST_DAY_MS = Date.parse('0001-01-01T00:00:00Z');

export function addDays(day: Day, count: number): Day {
  return toUtcDay(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS);
}

/** The number of days from `from` to `to`; negative if `to` is earlier. */
export function countDaysBetween(from: Day, to: Day): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

/** All days from `from` to `to`, inclusive; empty if `to` is earlier. Counts, because 9999-12-31 has no next day. */
export function listDaysBetween(from: Day, to: Day): Day[] {
  return Array.from({ length: Math.max(0, countDaysBetween(from, to) + 1) }, (_, count) => addDays(from, count));
}
