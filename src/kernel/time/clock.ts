import { memoize } from '../memo.ts';

/** Code that depends on the time gets a clock, so that tests can set it. */
export interface Clock {
  /** Epoch milliseconds, UTC. Jumps when the system clock is set. */
  now(): number;
  /** Whole milliseconds from an arbitrary start; never steps. For durations within a process: pauses, windows, caches. */
  monotonicMs(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonicMs: () => Math.floor(performance.now()) };

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** `2026-11-15T09:30:00Z`: ISO 8601, UTC, whole seconds. */
export function isoSeconds(ms: number): string {
  return isoSecond(Math.floor(ms / SECOND_MS));
}

const isoSecond = memoize((second: number) => `${new Date(second * SECOND_MS).toISOString().slice(0, 19)}Z`);

/** As `isoSeconds`, with milliseconds unless they are zero. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?$/;

/**
 * Parses an ISO 8601 date-time into epoch milliseconds; undefined if it is invalid or does not exist.
 * Second 60 is rejected: epoch time has no leap seconds.
 * `offset: 'required'` rejects a time without an offset; otherwise a missing offset means UTC.
 */
export function parseDateTime(text: string, { offset }: { offset: 'required' | 'optional' }): number | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, date = '', hour = '', minute = '', second = '00', fraction = '0', zone] = match;
  if (zone === undefined && offset === 'required') return undefined;
  const day = parseDate(date);
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const shift = zone === undefined || /^z$/i.test(zone) ? 0 : offsetMs(zone);
  if (day === undefined || shift === undefined || h > 23 || m > 59 || s > 59) return undefined;
  const ms = day + (h * 60 + m) * MINUTE_MS + s * SECOND_MS + Math.trunc(Number(`0.${fraction}`) * SECOND_MS) - shift;
  return ms < FIRST_MS || ms > LAST_MS ? undefined : ms;
}

/** The range of four-digit years; an offset can move a time out of it. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function offsetMs(zone: string): number | undefined {
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}

/** Parses `YYYY-MM-DD` into the epoch milliseconds of its UTC midnight; undefined if it is invalid, such as `2026-02-30`. */
export function parseDate(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text ? undefined : ms;
}
