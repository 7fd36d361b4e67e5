import { prepared } from '../state/prepared.ts';
import type { DashboardTokenRow, Db } from '../state/tables.ts';
import type { Dashboard } from './schema.ts';
import type { Token } from './token.ts';

const toToken = (row: DashboardTokenRow): Token => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  tokenHash: row.token_hash,
  tokenSuffix: row.token_suffix,
  createdAt: row.created_at,
  expireAt: row.expire_at ?? undefined,
  usedAt: row.used_at ?? undefined,
});

const toTokenRow = (token: Token): DashboardTokenRow => ({
  id: token.id,
  organization_id: token.organizationId,
  name: token.name,
  token_hash: token.tokenHash,
  token_suffix: token.tokenSuffix,
  created_at: token.createdAt,
  expire_at: token.expireAt ?? null,
  used_at: token.usedAt ?? null,
});

const selectByHash = prepared((db: Db, value: { tokenHash: string }) =>
  db.selectFrom('dashboard_tokens').selectAll().where('token_hash', '=', value.tokenHash),
);

/** The only look-up that knows no organization yet: it is how a request gets one. */
export async function findTokenByHash(db: Db, tokenHash: string): Promise<Token | undefined> {
  const row = await selectByHash.first(db, { tokenHash });
  return row && toToken(row);
}

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
  await tx.insertInto('dashboard_tokens').values(toTokenRow(token)).execute();
}

export async function updateToken(tx: Db, token: Token): Promise<void> {
  const { id, organization_id, used_at, ...changeable } = toTokenRow(token);
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

const selectDashboard = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('dashboards')
    .select('document')
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

/** Documents are stored in the form in which they are shown, so a read needs no parsing. */
export async function findDashboardJson(db: Db, organizationId: string, id: string): Promise<string | undefined> {
  const row = await selectDashboard.first(db, { organizationId, id });
  return row?.document;
}

export async function listDashboards(db: Db, organizationId: string): Promise<Dashboard[]> {
  const rows = await db
    .selectFrom('dashboards')
    .select('document')
    .where('organization_id', '=', organizationId)
    .execute();
  return rows.map(({ document }) => JSON.parse(document));
}

export async function putDashboard(tx: Db, organizationId: string, dashboard: Dashboard, now: number): Promise<void> {
  const { id, name } = dashboard;
  const document = JSON.stringify(dashboard);
  await tx
    .insertInto('dashboards')
    .values({ organization_id: organizationId, id, name, document, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'id']).doUpdateSet({ name, document, updated_at: now }),
    )
    .execute();
}

export async function deleteDashboard(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('dashboards').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** A telemetry table that series refer to; what it holds is decided where it is used. */
export type Source = { id: string; name: string } & Record<string, unknown>;

export async function listSources(db: Db, organizationId: string): Promise<Source[]> {
  const rows = await db
    .selectFrom('dashboard_sources')
    .select('document')
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute();
  return rows.map(({ document }) => JSON.parse(document));
}

export async function putSource(tx: Db, organizationId: string, source: Source): Promise<void> {
  const { id, name } = source;
  const document = JSON.stringify(source);
  await tx
    .insertInto('dashboard_sources')
    .values({ organization_id: organizationId, id, name, document })
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet({ name, document }))
    .execute();
}

export async function deleteSource(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('dashboard_sources').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}
