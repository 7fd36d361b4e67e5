import { plural } from '../format/format.ts';
import type { Describe } from './sentence.ts';

/** Why calls were refused: "(12 × secret not valid, 1 × not permitted)". */
function formatReasons(reasons: unknown): string {
  if (typeof reasons !== 'object' || reasons === null) return '';
  return `(${Object.entries(reasons)
    .map(([reason, count]) => `${count} × ${reason}`)
    .join(', ')})`;
}

/** Sign-ins, and what was read or refused. */
export const ACCESS_SENTENCES = {
  data_export: ({ after }) => ({
    action: `exported ${String(after.name ?? 'data')}`,
    rest: typeof after.format === 'string' ? `(${after.format})` : '',
  }),
  calls_refused: ({ after }, name) => ({
    action: `refused ${plural(Number(after.count ?? 1), 'call')} with the ${String(after.credential ?? 'key')}`,
    resource: name,
    rest: formatReasons(after.reasons),
  }),
  dashboard_link_view: ({ after }, name) => ({
    action: `showed a dashboard ${plural(Number(after.count ?? 1), 'time')} through the link`,
    resource: name,
  }),
  console_sign_in: () => ({ action: 'signed in to the console' }),
  console_sign_out: () => ({ action: 'signed out of the console' }),
  console_sign_in_failed: ({ after }, name) => ({
    action: `rejected a sign-in with the ${after.credential === 'token' ? 'dashboard token' : 'key'}`,
    resource: name,
    rest: typeof after.reason === 'string' ? `(${after.reason})` : '',
  }),
} satisfies Record<string, Describe>;
