import { type MaybePromise, mapMaybe } from '../kernel/maybe-promise.ts';
import { memoizeByObject } from '../kernel/memo.ts';
import { prepared } from '../state/prepared.ts';
import type { DashboardTokenRow, Db } from '../state/tables.ts';
import type { Token, TokenAccess } from './token.ts';

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

/** A token, and the revision of the dashboards it may see. */
export interface IdentifiedToken {
  token: Token;
  dashboardRevision: number;
}

/** The only look-up that knows no organization yet: it is how a request gets one. */
export function findTokenByHash(db: Db, tokenHash: string): MaybePromise<IdentifiedToken | undefined> {
  return mapMaybe(selectByHash.first(db, { tokenHash }), (row) => row && identified(row));
}

const selectCurrent = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('dashboard_tokens')
    .innerJoin('organizations', 'organizations.id', 'dashboard_tokens.organization_id')
    .selectAll('dashboard_tokens')
    .select('organizations.dashboard_revision')
    .where('dashboard_tokens.organization_id', '=', value.organizationId)
    .where('dashboard_tokens.id', '=', value.id),
);

export async function findCurrentToken(
  db: Db,
  organizationId: string,
  id: string,
): Promise<IdentifiedToken | undefined> {
  const row = await selectCurrent.first(db, { organizationId, id });
  return row && identified(row);
}

const identified = memoizeByObject(
  (row: DashboardTokenRow & { dashboard_revision: number }): IdentifiedToken => ({
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

/** Never backwards: another node may have seen the token later. */
export async function markTokenUsed(tx: Db, organizationId: string, id: string, usedAt: number): Promise<void> {
  await tx
    .updateTable('dashboard_tokens')
    .set({ used_at: usedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('used_at', 'is', null), eb('used_at', '<', usedAt)]))
    .execute();
}
