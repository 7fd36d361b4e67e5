import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { Db, Tables } from '../../platform/state/tables.ts';
import { isIn } from '../../platform/state/value-lists.ts';
import type { Slice } from './usage-slice.ts';

const COLUMNS = ['organization_id', 'service_id', 'id', 'document'] as const;

const putRows = preparedRows<Tables['usage_slices']>(COLUMNS, (db, rows) =>
  db
    .insertInto('usage_slices')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['service_id', 'id']).doUpdateSet((eb) => ({ document: eb.ref('excluded.document') })),
    ),
);

/** Stores slices of any organizations, or what they have grown to. In a fixed order: nodes never wait for each other. */
export async function putSlices(tx: Db, slices: readonly Slice[]): Promise<void> {
  const rows = slices.map(({ organizationId, serviceId, id, ...document }) => ({
    organization_id: organizationId,
    service_id: serviceId,
    id,
    document: JSON.stringify(document),
  }));
  await putRows(
    tx,
    rows.sort((a, b) => (`${a.service_id} ${a.id}` < `${b.service_id} ${b.id}` ? -1 : 1)),
  );
}

/** The stored slices of services, also those that another process has left. */
export async function listSlices(db: Db, serviceIds: Iterable<string>): Promise<Slice[]> {
  const rows = await db
    .selectFrom('usage_slices')
    .select(COLUMNS)
    .where(isIn(db, 'service_id', serviceIds))
    .orderBy('service_id')
    .orderBy('id')
    .execute();
  return rows.map(({ organization_id, service_id, id, document }) => ({
    ...JSON.parse(document),
    organizationId: organization_id,
    serviceId: service_id,
    id,
  }));
}

export async function deleteSlices(tx: Db, slices: readonly Slice[]): Promise<void> {
  const serviceIds = new Set(slices.map(({ serviceId }) => serviceId));
  await tx
    .deleteFrom('usage_slices')
    .where(isIn(tx, 'service_id', serviceIds))
    .where(
      isIn(
        tx,
        'id',
        slices.map(({ id }) => id),
      ),
    )
    .execute();
}

/** Usage is not accepted for services that do not exist any more. */
export async function deleteSlicesOfDeleted(tx: Db): Promise<void> {
  await tx
    .deleteFrom('usage_slices')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('services').select('services.id').whereRef('services.id', '=', 'usage_slices.service_id'))),
    )
    .execute();
}
