import { rejectViolations } from '../errors.ts';
import { DAY_MS, parseDateTime } from './clock.ts';

/** Epoch milliseconds of a query parameter. Throws `bad_request`. */
export function readTime(text: string | undefined, path: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDateTime(text, { offset: 'required' });
  const rule = 'The value must be an ISO 8601 date-time with an offset or Z';
  if (ms === undefined) rejectViolations([{ path, rule, value: text }]);
  return ms;
}

/** Throws `bad_request` unless `from` is before `to`, by at most `maxDays`. */
export function checkRange(from: number, to: number, maxDays: number): void {
  const path = 'from';
  const value = new Date(from).toISOString();
  if (from >= to) rejectViolations([{ path, rule: 'The value must be before to', value }]);
  if (to - from > maxDays * DAY_MS)
    rejectViolations([{ path, rule: `The value must be at most ${maxDays} days before to`, value }]);
}
