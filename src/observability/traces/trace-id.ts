import { AppError } from '../../kernel/errors.ts';

const TRACE_ID = /^[0-9a-f]{32}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const RULE = 'A trace id must have 32 hexadecimal digits, such as 5b8efff798038103d269b633813fc60c';

/** In lower case and without hyphens. A request id of this server has the form of a UUID. */
export function parseTraceId(text: string): string {
  const lower = text.toLowerCase();
  const id = UUID.test(lower) ? lower.replaceAll('-', '') : lower;
  if (!TRACE_ID.test(id)) throw new AppError('bad_request', RULE, { field: 'traceId' });
  return id;
}
