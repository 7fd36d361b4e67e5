import { bumpDashboardRevision } from '../../management/organizations/organizations.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Source } from './source.ts';
import { normalizeSource } from './source-rules.ts';

/** Older documents have no kind and are log sources. */
const toSource = ({ document }: { document: string }): Source => {
  const { id, kind = 'log', ...members }: Omit<Source, 'kind'> & Partial<Source> = JSON.parse(document);
  return normalizeSource(id, { ...members, kind });
};

export async function listSources(db: Db, organizationId: string): Promise<Source[]> {
  const rows = await db
    .selectFrom('dashboard_sources')
    .select('document')
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute();
  return rows.map(toSource);
}

export async function findSource(db: Db, organizationId: string, id: string): Promise<Source | undefined> {
  const row = await db
    .selectFrom('dashboard_sources')
    .select('document')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toSource(row);
}

export async function putSource(tx: Db, organizationId: string, source: Source): Promise<void> {
  const { id, name } = source;
  const document = JSON.stringify(source);
  await tx
    .insertInto('dashboard_sources')
    .values({ organization_id: organizationId, id, name, document })
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet({ name, document }))
    .execute();
  await bumpDashboardRevision(tx, organizationId);
}

export async function deleteSource(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('dashboard_sources').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  await bumpDashboardRevision(tx, organizationId);
}
