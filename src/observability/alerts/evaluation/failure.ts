import { AppError } from '../../../kernel/errors.ts';
import { cutCharacters } from '../../../kernel/text.ts';
import type { Failure } from '../alert.ts';
import type { ErrorType } from '../alert-schema.ts';

const MAX_ERROR_LENGTH = 1000;

/** What is known about an evaluation that failed, again or for the first time. */
export function toFailure(before: Failure | undefined, error: unknown, nowMs: number): Failure {
  const message = cutCharacters((error as Error).message, MAX_ERROR_LENGTH);
  const since = before?.since ?? nowMs;
  return { ...before, since, at: nowMs, type: toErrorType(error), message, attempts: (before?.attempts ?? 0) + 1 };
}

/** What they name was deleted, or cannot be evaluated any more. */
const SOURCE_MEMBERS = new Set<string | undefined>(['savedSearchId', 'dashboardId', 'tileId']);

function toErrorType(error: unknown): ErrorType {
  if (!(error instanceof AppError)) return 'UNKNOWN';
  if (error.code === 'not_found' || SOURCE_MEMBERS.has(error.field)) return 'INVALID_ALERT';
  return /took longer|timeout/i.test(error.message) ? 'QUERY_TIMEOUT' : 'QUERY_ERROR';
}
