import { rejectViolations } from '../../kernel/errors.ts';
import { parseDateTime } from '../../kernel/time/clock.ts';
import { MAX_TIME_MS, MIN_TIME_MS } from './limits.ts';
import type { Range } from './queries/time-buckets.ts';

/** Fewer than 12 digits would be seconds. */
const MILLISECONDS = /^\d{12,14}$/;

export function parseMoment(path: string, value: string | number): number {
  const text = String(value);
  const ms = MILLISECONDS.test(text) ? Number(text) : parseDateTime(text, { offset: 'required' });
  if (ms === undefined)
    rejectViolations([
      {
        path,
        rule: 'The value must be epoch milliseconds of 12 to 14 digits, or an ISO 8601 date-time with an offset or Z',
        value,
      },
    ]);
  if (ms !== undefined && (ms < MIN_TIME_MS || ms > MAX_TIME_MS))
    rejectViolations([{ path, rule: 'The time must be between 1970-01-01 and 2262-01-01', value }]);
  return ms ?? 0;
}

export function rejectEmptyRange(path: string, startMs: number, endMs: number): void {
  if (startMs >= endMs) rejectViolations([{ path, rule: 'The start must be before the end', value: startMs }]);
}

const HOUR_MS = 3_600_000;

interface RangeInput {
  start?: string | number | undefined;
  end?: string | number | undefined;
}

/** Defaults to the last hour. */
export function parseRange(now: number, { start, end }: RangeInput): Range {
  const endMs = end === undefined ? now : parseMoment('end', end);
  const startMs = start === undefined ? endMs - HOUR_MS : parseMoment('start', start);
  rejectEmptyRange('start', startMs, endMs);
  return { startMs, endMs };
}
