import { computedOnce } from '../kernel/memo.ts';
import { type Soon, soon } from '../kernel/soon.ts';
import { prepared } from '../state/prepared.ts';
import type { Db } from '../state/tables.ts';
import type { Service } from './service.ts';

const toService = ({ document }: { document: string }): Service => JSON.parse(document);

const selectOne = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('services')
    .select('document')
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

const sharedService = computedOnce(toService);

/** For reading only: see `recent`. */
export function findSharedService(db: Db, organizationId: string, id: string): Soon<Readonly<Service> | undefined> {
  return soon(selectOne.recent(db, { organizationId, id }), (row) => row && sharedService(row));
}

export async function findService(db: Db, organizationId: string, id: string): Promise<Service | undefined> {
  const row = await selectOne.first(db, { organizationId, id });
  return row && toService(row);
}

export async function listServices(db: Db, organizationId: string): Promise<Service[]> {
  const rows = await db
    .selectFrom('services')
    .select('document')
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toService);
}

const setDocument = prepared(
  (db: Db, value: { organizationId: string; id: string; createdAt: number; document: string }) =>
    db
      .updateTable('services')
      .set({ created_at: value.createdAt, document: value.document })
      .where('organization_id', '=', value.organizationId)
      .where('id', '=', value.id),
);

export async function updateService(tx: Db, service: Service): Promise<void> {
  const { organizationId, id, createdAt } = service;
  await setDocument.first(tx, { organizationId, id, createdAt, document: JSON.stringify(service) });
}

export async function insertService(tx: Db, service: Service): Promise<void> {
  const { id, organizationId, createdAt } = service;
  await tx
    .insertInto('services')
    .values({ id, organization_id: organizationId, created_at: createdAt, document: JSON.stringify(service) })
    .execute();
}

export async function deleteService(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('services').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}
