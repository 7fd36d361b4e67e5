import type { Db } from '../../platform/state/tables.ts';

/** The port of a service. One port belongs to one service of the store, on whichever node it is open. */
export interface ServicePort {
  organizationId: string;
  serviceId: string;
  port: number;
}

export async function findPort(
  db: Db,
  { organizationId, serviceId }: Omit<ServicePort, 'port'>,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('endpoint_ports')
    .select('port')
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
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

/** False if the port belongs to a service, or the service has a port. */
export async function claimPort(tx: Db, { organizationId, serviceId, port }: ServicePort): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('endpoint_ports')
    .values({ organization_id: organizationId, service_id: serviceId, port })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

export async function releasePort(tx: Db, { organizationId, serviceId }: Omit<ServicePort, 'port'>): Promise<void> {
  await tx
    .deleteFrom('endpoint_ports')
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .execute();
}
