import { type MaybePromise, mapMaybe } from '../kernel/maybe-promise.ts';
import { memoize } from '../kernel/memo.ts';
import type { Organization, Tier } from '../organizations/organization.ts';
import { lockRows } from '../state/locking.ts';
import { prepared } from '../state/prepared.ts';
import type { Db } from '../state/tables.ts';
import type { Service } from './service.ts';

/** Of a document that was read lately the service is still there. It is shared, so nobody may change it. */
const serviceIn = memoize((document): Readonly<Service> => JSON.parse(document));

const selectOne = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('services')
    .select('document')
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

/** As `recent` has it. */
export function findService(db: Db, organizationId: string, id: string): MaybePromise<Readonly<Service> | undefined> {
  return mapMaybe(selectOne.cached(db, { organizationId, id }), (row) => row && serviceIn(row.document));
}

const selectAndHold = prepared((db: Db, value: { organizationId: string; id: string }) =>
  lockRows(
    db,
    db
      .selectFrom('organizations')
      .innerJoin('services', 'services.organization_id', 'organizations.id')
      .select(['organizations.tier', 'organizations.paid', 'services.document'])
      .where('organizations.id', '=', value.organizationId)
      .where('services.id', '=', value.id),
  ),
);

/**
 * Holds the organization's row and then the service's until the transaction ends. Both, so that PostgreSQL gives the
 * service as whoever held it before left it, and not as it was when the wait began.
 */
export function takeService(tx: Db, organizationId: string, id: string): MaybePromise<TakenService | undefined> {
  return mapMaybe(
    selectAndHold.first(tx, { organizationId, id }),
    (row) =>
      row && { organization: { tier: row.tier as Tier, isPaid: row.paid === 1 }, service: serviceIn(row.document) },
  );
}

interface TakenService {
  organization: Pick<Organization, 'tier' | 'isPaid'>;
  service: Readonly<Service>;
}

export async function listServices(db: Db, organizationId: string): Promise<Service[]> {
  const rows = await db
    .selectFrom('services')
    .select('document')
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ document }) => JSON.parse(document));
}

const setDocument = prepared((db: Db, value: { organizationId: string; id: string; document: string }) =>
  db
    .updateTable('services')
    .set({ document: value.document })
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

/** Leaves the index alone, in which the time of creation stands. */
export function updateScaling(tx: Db, service: Readonly<Service>): MaybePromise<unknown> {
  const { organizationId, id } = service;
  return setDocument.first(tx, { organizationId, id, document: JSON.stringify(service) });
}

export async function updateService(tx: Db, service: Service): Promise<void> {
  await tx
    .updateTable('services')
    .set({ created_at: service.createdAt, document: JSON.stringify(service) })
    .where('organization_id', '=', service.organizationId)
    .where('id', '=', service.id)
    .execute();
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
