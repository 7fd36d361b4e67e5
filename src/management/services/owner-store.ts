import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { isIn } from '../../platform/state/value-lists.ts';
import { formatPlace } from './driver.ts';
import type { Service } from './service.ts';

/** Of the one row with the identity of the store. */
const ONLY_ROW = 1;

interface Claim {
  resource: string;
  organization_id: string;
  service_id: string;
}

/** The resource that the service drives; undefined if its driver needs none. */
export const findResource = ({ driver, settings }: Readonly<Service>): string | undefined =>
  driver === 'kubernetes' && settings?.kubernetes ? formatPlace(settings.kubernetes) : undefined;

const toClaim = (service: Readonly<Service>): Claim | undefined => {
  const resource = findResource(service);
  return resource === undefined
    ? undefined
    : { resource, organization_id: service.organizationId, service_id: service.id };
};

const isOwn = (owner: Claim | undefined, claim: Claim): boolean =>
  owner?.service_id === claim.service_id && owner.organization_id === claim.organization_id;

/**
 * Makes the services the owners of their resources. Throws `conflict` if one of them has another owner, in whatever
 * organization: two services would change it in turns. Other transactions that claim the same resource wait for this one.
 */
export async function claimResources(tx: Db, services: readonly Readonly<Service>[]): Promise<void> {
  const claims = services.flatMap((service) => toClaim(service) ?? []);
  if (claims.length === 0) return;
  // In a fixed order: transactions never wait for each other.
  claims.sort((a, b) => (a.resource < b.resource ? -1 : 1));
  const owners = await putMissing(tx, claims);
  for (const claim of claims) {
    const owner = owners.get(claim.resource);
    if (!isOwn(owner, claim)) throw new AppError('conflict', await formatConflict(tx, claim, owner));
  }
}

async function putMissing(tx: Db, claims: Claim[]): Promise<Map<string, Claim>> {
  const resources = claims.map(({ resource }) => resource);
  await deleteOrphans(tx, resources);
  await tx
    .insertInto('resource_owners')
    .values(claims)
    .onConflict((conflict) => conflict.column('resource').doNothing())
    .execute();
  const rows = await tx
    .selectFrom('resource_owners')
    .selectAll()
    .where(isIn(tx, 'resource', resources))
    .execute();
  return new Map(rows.map((row) => [row.resource, row]));
}

/** A row whose service is gone, however it was removed, does not keep a resource from others. */
const deleteOrphans = (tx: Db, resources: readonly string[]) =>
  tx
    .deleteFrom('resource_owners')
    .where(isIn(tx, 'resource', resources))
    .where((is) =>
      is.and(
        (['services', 'service_removals'] as const).map((table) =>
          is.not(
            is.exists(
              is
                .selectFrom(table)
                .select(`${table}.id`)
                .whereRef(`${table}.organization_id`, '=', 'resource_owners.organization_id')
                .whereRef(`${table}.id`, '=', 'resource_owners.service_id'),
            ),
          ),
        ),
      ),
    )
    .execute();

/** Only services of the same organization are named. */
async function formatConflict(tx: Db, { resource, organization_id }: Claim, owner: Claim | undefined): Promise<string> {
  if (owner?.organization_id !== organization_id) return `${resource} belongs to another service`;
  const { service_id: id } = owner;
  const removal = await tx
    .selectFrom('service_removals')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .executeTakeFirst();
  return removal
    ? `${resource} belongs to the service ${id}, which is being deleted; try again when that is done`
    : `${resource} belongs to the service ${id}`;
}

/** Whether the service is the owner of its resource. It becomes the owner of a resource that has none. */
export async function ownsResource(state: Pick<State, 'db' | 'write'>, service: Readonly<Service>): Promise<boolean> {
  const claim = toClaim(service);
  if (!claim) return true;
  const owner = await findOwner(state.db, claim);
  if (owner) return isOwn(owner, claim);
  return state.write(async (tx) => {
    // Deleted or moved meanwhile.
    const stored = await tx
      .selectFrom('services')
      .select('document')
      .where('organization_id', '=', claim.organization_id)
      .where('id', '=', claim.service_id)
      .executeTakeFirst();
    const isCurrent = stored !== undefined && findResource(JSON.parse(stored.document)) === claim.resource;
    return isCurrent && isOwn((await putMissing(tx, [claim])).get(claim.resource), claim);
  });
}

const findOwner = (db: Db, { resource }: Claim): Promise<Claim | undefined> =>
  db.selectFrom('resource_owners').selectAll().where('resource', '=', resource).executeTakeFirst();

/** The service drives its current resource now, so others may have those that it drove before. */
export async function releaseOtherResources(tx: Db, service: Readonly<Service>): Promise<void> {
  const claim = toClaim(service);
  if (!claim) return;
  await tx
    .deleteFrom('resource_owners')
    .where('organization_id', '=', claim.organization_id)
    .where('service_id', '=', claim.service_id)
    .where('resource', '<>', claim.resource)
    .execute();
}

/** Of a service that its driver has removed, unless there is another one with its id. */
export async function releaseResources(
  tx: Db,
  { organizationId, id }: Pick<Service, 'organizationId' | 'id'>,
): Promise<void> {
  await tx
    .deleteFrom('resource_owners')
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('services')
            .select('services.id')
            .where('services.organization_id', '=', organizationId)
            .where('services.id', '=', id),
        ),
      ),
    )
    .execute();
}

/** Tells the store from those of other control planes. A restored backup has the identity of its original. */
export async function readControlPlaneId(state: Pick<State, 'db' | 'write'>): Promise<string> {
  const read = async (db: Db) =>
    (await db.selectFrom('control_planes').select('identity').where('id', '=', ONLY_ROW).executeTakeFirst())?.identity;
  const known = await read(state.db);
  if (known !== undefined) return known;
  return state.write(async (tx) => {
    await tx
      .insertInto('control_planes')
      .values({ id: ONLY_ROW, identity: newUuid() })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return (await read(tx)) ?? '';
  });
}
