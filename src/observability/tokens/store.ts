import type { TokenAccess } from '../../kernel/access/roles.ts';
import { memoizeByObject } from '../../kernel/memo.ts';
import { type MaybePromise, mapMaybe } from '../../kernel/tasks/maybe-promise.ts';
import { MAX_LEAD_MS } from '../../platform/credentials/last-used.ts';
import { prepared } from '../../platform/state/prepared.ts';
import type { DashboardTokenRow, Db } from '../../platform/state/tables.ts';
import type { Token } from './token.ts';

const toToken = (row: DashboardTokenRow): Token => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  access: row.access as TokenAccess,
  tokenHash: row.token_hash,
  tokenSuffix: row.token_suffix,
  createdAt: row.created_at,
  expireAt: row.expire_at ?? undefined,
  usedAt: row.used_at ?? undefined,
});

const toRow = (token: Token): DashboardTokenRow => ({
  id: token.id,
  organization_id: token.organizationId,
  name: token.name,
  access: token.access,
  token_hash: token.tokenHash,
  token_suffix: token.tokenSuffix,
  created_at: token.createdAt,
  expire_at: token.expireAt ?? null,
  used_at: token.usedAt ?? null,
});

const selectByHash = prepared((db: Db, value: { tokenHash: string }) =>
  db
    .selectFrom('dashboard_tokens')
    .innerJoin('organizations', 'organizations.id', 'dashboard_tokens.organization_id')
    .selectAll('dashboard_tokens')
    .select('organizations.dashboard_revision')
    .where('dashboard_tokens.token_hash', '=', value.tokenHash),
);

export interface TokenWithRevision {
  token: Token;
  /** Of the organization's dashboards and sources. */
  dashboardRevision: number;
}

/** Not limited to an organization: the token determines the organization of the request. */
export function findTokenByHash(db: Db, tokenHash: string): MaybePromise<TokenWithRevision | undefined> {
  return mapMaybe(selectByHash.first(db, { tokenHash }), (row) => row && toTokenWithRevision(row));
}

const selectWithRevision = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('dashboard_tokens')
    .innerJoin('organizations', 'organizations.id', 'dashboard_tokens.organization_id')
    .selectAll('dashboard_tokens')
    .select('organizations.dashboard_revision')
    .where('dashboard_tokens.organization_id', '=', value.organizationId)
    .where('dashboard_tokens.id', '=', value.id),
);

export async function findTokenWithRevision(
  db: Db,
  organizationId: string,
  id: string,
): Promise<TokenWithRevision | undefined> {
  const row = await selectWithRevision.first(db, { organizationId, id });
  return row && toTokenWithRevision(row);
}

const toTokenWithRevision = memoizeByObject(
  (row: DashboardTokenRow & { dashboard_revision: number }): TokenWithRevision => ({
    token: toToken(row),
    dashboardRevision: row.dashboard_revision,
  }),
);

export async function listTokens(db: Db, organizationId: string): Promise<Token[]> {
  const rows = await db
    .selectFrom('dashboard_tokens')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toToken);
}

export async function findToken(db: Db, organizationId: string, id: string): Promise<Token | undefined> {
  const row = await db
    .selectFrom('dashboard_tokens')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toToken(row);
}

export async function countTokens(db: Db, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('dashboard_tokens')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export async function insertToken(tx: Db, token: Token): Promise<void> {
  await tx.insertInto('dashboard_tokens').values(toRow(token)).execute();
}

export async function updateToken(tx: Db, token: Token): Promise<void> {
  const { id, organization_id, used_at, ...changeable } = toRow(token);
  await tx
    .updateTable('dashboard_tokens')
    .set(changeable)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .execute();
}

export async function deleteToken(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('dashboard_tokens').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** Never moves backwards: another node may have stored a later use. */
export async function markTokenUsed(tx: Db, organizationId: string, id: string, usedAt: number): Promise<void> {
  await tx
    .updateTable('dashboard_tokens')
    .set({ used_at: usedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('used_at', 'is', null), eb('used_at', '<', usedAt), eb('used_at', '>', usedAt + MAX_LEAD_MS)]),
    )
    .execute();
}
