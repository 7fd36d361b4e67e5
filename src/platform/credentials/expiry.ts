import { rejectViolations } from '../../kernel/errors.ts';
import { isoTime, parseDateTime } from '../../kernel/time/clock.ts';

/** Absent, null and empty mean never. A time in the past is rejected: the credential could never be used. */
export function parseFutureExpiry(text: string | null | undefined, now: number): number | undefined {
  if (text === undefined || text === null || text === '') return undefined;
  const rule = findViolatedExpiryRule(text, now);
  if (rule !== undefined) rejectViolations([{ path: 'expireAt', rule, value: text }]);
  return parseDateTime(text, { offset: 'required' });
}

/** The rule that an expiry violates. Empty means never. */
export function findViolatedExpiryRule(text: string, now: number): string | undefined {
  if (text === '') return undefined;
  const ms = parseDateTime(text, { offset: 'required' });
  if (ms === undefined) return 'The value must be an ISO 8601 date-time with an offset or Z';
  return ms <= now ? 'The value must be in the future' : undefined;
}

export const isExpired = (expireAt: number | undefined, now: number): boolean =>
  expireAt !== undefined && expireAt <= now;

/** The format of records and the audit log; null means never. */
export const formatExpiry = (expireAt: number | undefined): string | null =>
  expireAt === undefined ? null : isoTime(expireAt);
