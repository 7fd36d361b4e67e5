import type { Caller } from '../../hand-outs/caller.ts';
import { assertMayHandOut } from '../../hand-outs/hand-out.ts';
import { toServiceRights } from '../../hand-outs/rights.ts';
import { NO_BACKUP, type Restorable } from './new-service.ts';

/** A backup that the caller may not view looks like one that does not exist. */
export function limitRestorable({ grants }: Caller, restorable: Restorable): Restorable {
  const serviceId = 'serviceId' in restorable ? restorable.serviceId : restorable.ofServiceId;
  const isHidden = serviceId !== undefined && grants && !grants.permits('backupGet', serviceId);
  return isHidden ? { obstacle: NO_BACKUP } : restorable;
}

export const canView = ({ grants }: Caller, serviceId: string): boolean =>
  grants?.permits('instanceGet', serviceId) ?? true;

/** Throws `forbidden` if the caller may not read the data of the services that a new service has a copy of. */
export function assertMayCopy(caller: Caller, serviceIds: readonly string[]): void {
  for (const id of serviceIds)
    assertMayHandOut(caller, toServiceRights(id, ['sqlRead']), `A copy of the data of the service ${id}`);
}
