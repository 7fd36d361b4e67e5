import type { Db } from '../../platform/state/tables.ts';

export type Protocol = 'http' | 'native';

/** The ports of a service belong to no other service of the store, on whichever node they are open. */
export interface PortOwner {
  organizationId: string;
  serviceId: string;
}

/** Who a port is for. */
export interface PortUse extends PortOwner {
  protocol: Protocol;
}

export async function findPort(db: Db, { organizationId, serviceId, protocol }: PortUse): Promise<number | undefined> {
  const row = await db
    .selectFrom('endpoint_ports')
    .select('port')
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .where('protocol', '=', protocol)
    .executeTakeFirst();
  return row?.port;
}

/** The ports from `first` to `last` that belong to services, of any organization. */
export async function listPorts(db: Db, first: number, last: number): Promise<Set<number>> {
  const rows = await db
    .selectFrom('endpoint_ports')
    .select('port')
    .where('port', '>=', first)
    .where('port', '<=', last)
    .execute();
  return new Set(rows.map(({ port }) => port));
}

/** False if the port belongs to a service, or the service has a port for the protocol. */
export async function claimPort(
  tx: Db,
  { organizationId, serviceId, protocol }: PortUse,
  port: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('endpoint_ports')
    .values({ organization_id: organizationId, service_id: serviceId, protocol, port })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** Without a protocol, all ports of the service. */
export async function releasePorts(
  tx: Db,
  { organizationId, serviceId, protocol }: PortOwner & Partial<PortUse>,
): Promise<void> {
  await tx
    .deleteFrom('endpoint_ports')
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .$if(protocol !== undefined, (query) => query.where('protocol', '=', protocol ?? ''))
    .execute();
}
