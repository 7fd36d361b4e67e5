import { AppError } from '../kernel/errors.ts';
import type { Db } from '../state/tables.ts';
import type { Organization, TakenOrganization } from './organization.ts';
import { bumpCostRevision, findOrganization, listOrganizations, takeOrganization } from './store.ts';

export { bumpDashboardRevision } from './store.ts';

export type Organizations = ReturnType<typeof createOrganizations>;

export function createOrganizations({ db }: { db: Db }) {
  return {
    list: (): Promise<Organization[]> => listOrganizations(db),

    async get(id: string): Promise<Organization> {
      return (await findOrganization(db, id)) ?? missing(id);
    },

    find: (tx: Db, id: string): Promise<Organization | undefined> => findOrganization(tx, id),

    /**
     * Every change inside an organization starts here. Changes of one organization then happen one after the other,
     * on every node, so that a rule over several rows («at most 100 keys») holds without any further lock.
     */
    async take(tx: Db, id: string): Promise<TakenOrganization> {
      return (await takeOrganization(tx, id)) ?? missing(id);
    },

    /** What it cost has changed: whatever was rendered from it is out of date, on every node. */
    costsChanged: (tx: Db, id: string): Promise<void> => bumpCostRevision(tx, id),
  };
}

function missing(id: string): never {
  throw new AppError('not_found', `organization ${id} does not exist`);
}
