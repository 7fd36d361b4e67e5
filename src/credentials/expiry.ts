import { parseDateTime } from '../kernel/clock.ts';
import { rejectViolations } from '../kernel/errors.ts';

/** Absent, null and empty mean never; a moment that has passed would make a credential that cannot be used. */
export function futureExpiry(text: string | null | undefined, now: number): number | undefined {
  if (text === undefined || text === null || text === '') return undefined;
  const ms = parseDateTime(text, { offset: 'required' });
  const path = 'expireAt';
  if (ms === undefined)
    rejectViolations([{ path, rule: 'The value must be an ISO 8601 date-time with an offset or Z', value: text }]);
  else if (ms <= now) rejectViolations([{ path, rule: 'The value must lie in the future', value: text }]);
  return ms;
}
