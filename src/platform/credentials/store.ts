import { sql } from 'kysely';
import { HOUR_MS } from '../../kernel/time/clock.ts';
import { prepared } from '../state/prepared.ts';
import type { Db } from '../state/tables.ts';

type Revisions = Record<'cost_revision' | 'dashboard_revision' | 'role_revision', number>;

/** A key, token or link, with the revisions of its organization, so that a request needs no other row of it. */
export interface FoundCredential<C> {
  credential: C;
  costRevision: number;
  dashboardRevision: number;
  roleRevision: number;
}

interface Options<R, C> {
  table: 'api_keys' | 'dashboard_tokens' | 'dashboard_links';
  /** Unique: the hash of the key id, or of the secret. */
  hashColumn: 'key_id_hash' | 'token_hash' | 'secret_hash';
  columns: readonly (keyof R)[];
  toCredential(row: R): C;
}

/** What the stores of keys, tokens and links have in common. */
export function createCredentialStore<R extends object, C>({
  table,
  hashColumn,
  columns,
  toCredential,
}: Options<R, C>) {
  // The types are those of one of the tables: a union of tables has no common columns for Kysely.
  const from = table as 'dashboard_tokens';
  const selected = columns.map((column) => `${from}.${String(column)}`) as `${typeof from}.id`[];

  const select = (db: Db) =>
    db
      .selectFrom(from)
      .innerJoin('organizations', 'organizations.id', `${from}.organization_id`)
      .select(selected)
      .select(['organizations.cost_revision', 'organizations.dashboard_revision', 'organizations.role_revision'])
      .$castTo<R & Revisions>();
  const selectByHash = prepared((db: Db, value: { hash: string }) =>
    select(db).where(`${from}.${hashColumn as 'token_hash'}`, '=', value.hash),
  );
  const selectById = prepared((db: Db, value: { organizationId: string; id: string }) =>
    select(db).where(`${from}.organization_id`, '=', value.organizationId).where(`${from}.id`, '=', value.id),
  );

  const toFound = (row: R & Revisions): FoundCredential<C> => ({
    credential: toCredential(row),
    costRevision: row.cost_revision,
    dashboardRevision: row.dashboard_revision,
    roleRevision: row.role_revision,
  });

  return {
    /** Not limited to an organization: the credential determines the organization of the request. */
    findByHash: (db: Db, hash: string) => selectByHash.firstCached(db, { hash }, toFound),

    find: (db: Db, organizationId: string, id: string) => selectById.firstCached(db, { organizationId, id }, toFound),

    /** Oldest first. */
    async list(db: Db, organizationId: string): Promise<C[]> {
      const rows = await db
        .selectFrom(from)
        .select(selected)
        .where('organization_id', '=', organizationId)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return (rows as unknown as R[]).map(toCredential);
    },

    async remove(tx: Db, organizationId: string, id: string): Promise<void> {
      await tx.deleteFrom(from).where('organization_id', '=', organizationId).where('id', '=', id).execute();
    },
  };
}

/** What has a last use, by table. */
export const USED_TABLES = {
  api_keys: { id: 'id', usedAt: 'used_at', plural: 'keys' },
  dashboard_tokens: { id: 'id', usedAt: 'used_at', plural: 'tokens' },
  dashboard_links: { id: 'id', usedAt: 'used_at', plural: 'links' },
  members: { id: 'user_id', usedAt: 'seen_at', plural: 'members' },
  console_sessions: { id: 'session_hash', usedAt: 'seen_at', plural: 'sessions' },
} as const;

export type UsedTable = keyof typeof USED_TABLES;

/** A time further ahead was stored before the clock was set back; it is replaced. */
export const MAX_LEAD_MS = HOUR_MS;

/** Never moves backwards: another node may have stored a later use. */
export async function markUsed(
  tx: Db,
  table: UsedTable,
  organizationId: string,
  id: string,
  usedAt: number,
): Promise<void> {
  const column = sql.ref(USED_TABLES[table].usedAt);
  await sql`UPDATE ${sql.table(table)} SET ${column} = ${usedAt}
    WHERE organization_id = ${organizationId} AND ${sql.ref(USED_TABLES[table].id)} = ${id}
      AND (${column} IS NULL OR ${column} < ${usedAt} OR ${column} > ${usedAt + MAX_LEAD_MS})`.execute(tx);
}
