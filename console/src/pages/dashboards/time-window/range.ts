import type { DashboardSearch, Preset, Refresh } from '../search.ts';

/** Epoch milliseconds; the end is exclusive. */
export interface Range {
  start: number;
  end: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const PRESET_MS: Record<Preset, number> = {
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
};

export const PRESET_LABELS: Record<Preset, string> = {
  '5m': '5 minutes',
  '15m': '15 minutes',
  '1h': '1 hour',
  '6h': '6 hours',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
};

export const REFRESH_MS: Record<Refresh, number> = { '10s': 10_000, '1m': MINUTE_MS };

export const DEFAULT_PRESET: Preset = '1h';

/** `now` is the time of the last refresh. */
export function resolveRange({ from, to, last = DEFAULT_PRESET }: DashboardSearch, now: number): Range {
  return from !== undefined && to !== undefined ? { start: from, end: to } : { start: now - PRESET_MS[last], end: now };
}

/** The IANA name of the time zone. */
export const resolveZone = ({ utc }: DashboardSearch): string =>
  utc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `2026-11-15T10:05`, the value of a `datetime-local` field. */
export function formatDateTimeField(ms: number, isUtc: boolean): string {
  const offset = isUtc ? 0 : new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(ms - offset).toISOString().slice(0, 16);
}

/** NaN if the text is not a time. */
export const parseDateTimeField = (text: string, isUtc: boolean): number => Date.parse(isUtc ? `${text}Z` : text);
