import type { TokenAccess } from '../../kernel/access/roles.ts';
import { createCredentialStore } from '../../platform/credentials/store.ts';
import type { DashboardTokenRow, Db } from '../../platform/state/tables.ts';
import type { Token } from './token.ts';

const COLUMNS = [
  'id',
  'organization_id',
  'name',
  'access',
  'token_hash',
  'token_suffix',
  'created_at',
  'expire_at',
  'used_at',
] as const;

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

const credentials = createCredentialStore({
  table: 'dashboard_tokens',
  hashColumn: 'token_hash',
  columns: COLUMNS,
  toCredential: toToken,
});

export const {
  findByHash: findTokenByHash,
  find: findTokenWithRevisions,
  list: listTokens,
  remove: deleteToken,
} = credentials;

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
