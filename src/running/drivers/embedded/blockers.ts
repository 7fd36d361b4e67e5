import { cutCharacters } from '../../../kernel/text.ts';
import type { IdleBlocker, Upstream } from '../../../management/services/driver.ts';
import { OWN_COMMENT, queryRows } from '../../../platform/listener/query.ts';
import { CLIENT_USERS } from './users.ts';

const MAX_BLOCKERS = 20;
const MAX_DETAIL_CHARACTERS = 200;

const STATEMENT = `
SELECT 'merge' AS type, concat(database, '.', table, ': ', toString(num_parts), ' parts, ', toString(toUInt8(progress * 100)), ' %') AS detail
FROM system.merges WHERE NOT is_mutation AND database != 'system'
UNION ALL
SELECT 'mutation', concat(database, '.', table, ': ', toString(parts_to_do), ' parts left, ', command)
FROM system.mutations WHERE NOT is_done AND NOT is_killed AND latest_fail_reason = ''
UNION ALL
SELECT 'backup', name FROM system.backups WHERE status IN ('CREATING_BACKUP', 'RESTORING')
UNION ALL
SELECT 'running_query', concat(toString(count()), ' running at the service') FROM system.processes
WHERE user IN (${CLIENT_USERS.map((name) => `'${name}'`).join(', ')}) AND Settings['log_comment'] != '${OWN_COMMENT}' HAVING count() > 0
LIMIT ${MAX_BLOCKERS}`;

/** Work that would be interrupted if the service were stopped now. */
export async function listBlockers(upstream: Upstream, signal: AbortSignal): Promise<IdleBlocker[]> {
  const rows = await queryRows<[IdleBlocker['type'], string]>(upstream, STATEMENT, signal);
  return rows.map(([type, detail]) => ({
    type,
    detail: cutCharacters(detail.replace(/\s+/g, ' ').trim(), MAX_DETAIL_CHARACTERS),
  }));
}
