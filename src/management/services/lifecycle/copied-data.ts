import type { Db } from '../../../platform/state/tables.ts';
import type { Caller } from '../../hand-outs/caller.ts';
import { assertMayHandOut } from '../../hand-outs/hand-out.ts';
import { toServiceRights } from '../../hand-outs/rights.ts';
import { listWarehouses } from '../store.ts';
import { type FindRestorable, type NewService, NO_BACKUP, type Restorable } from './new-service.ts';

/** The backup and the services of the warehouse that a new service has data of, as far as the caller may know them. */
export async function findOrigins(
  db: Db,
  organizationId: string,
  requested: NewService,
  { findRestorable, caller }: { findRestorable: FindRestorable; caller: Caller },
) {
  const backupId = requested.backupId?.toLowerCase();
  const found = backupId === undefined ? undefined : await findRestorable(db, organizationId, backupId);
  const warehouseId = requested.dataWarehouseId?.toLowerCase();
  const warehouse = warehouseId === undefined ? [] : await listWarehouses(db, organizationId, [warehouseId]);
  return {
    backupId,
    restorable: found && limitRestorable(caller, found),
    warehouseId,
    warehouse: warehouse.filter(({ id }) => canView(caller, id)),
  };
}

/** A backup that the caller may not view looks like one that does not exist. */
function limitRestorable({ grants }: Caller, restorable: Restorable): Restorable {
  const serviceId = 'serviceId' in restorable ? restorable.serviceId : restorable.ofServiceId;
  const isHidden = serviceId !== undefined && grants && !grants.permits('backupGet', serviceId);
  return isHidden ? { obstacle: NO_BACKUP } : restorable;
}

const canView = ({ grants }: Caller, serviceId: string): boolean => grants?.permits('instanceGet', serviceId) ?? true;

/** Throws `forbidden` if the caller may not read the data that a new service has a copy of. */
export function assertMayCopy(
  caller: Caller,
  { restorable, warehouse }: { restorable: Restorable | undefined; warehouse: readonly { id: string }[] },
): void {
  const restored = restorable && 'serviceId' in restorable ? [restorable.serviceId] : [];
  for (const id of [...restored, ...warehouse.map((service) => service.id)])
    assertMayHandOut(caller, toServiceRights(id, ['sqlRead']), `A copy of the data of the service ${id}`);
}
