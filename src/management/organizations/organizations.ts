import { AppError } from '../../kernel/errors.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { LockedOrganization, Organization } from './organization.ts';
import {
  bumpCostRevision,
  findOrganization,
  hasOrganization,
  listMemberRules,
  listOrganizations,
  listTelemetryRetentions,
  lockOrganization,
  updateOrganization,
} from './store.ts';

export { bumpDashboardRevision, findDashboardCount, setDashboardCount } from './store.ts';

export type Organizations = ReturnType<typeof createOrganizations>;

export function createOrganizations({ db }: { db: Db }) {
  return {
    list: (): Promise<Organization[]> => listOrganizations(db),

    async get(id: string, tx: Db = db): Promise<Organization> {
      return (await findOrganization(tx, id)) ?? missing(id);
    },

    /** Those with a retention of telemetry of their own. */
    listWithRetention: (): Promise<Organization[]> => listTelemetryRetentions(db),

    listWithMemberRules: (): Promise<Organization[]> => listMemberRules(db),

    update: (tx: Db, organization: Organization): Promise<void> => updateOrganization(tx, organization),

    /** Whether there is an organization at all. */
    exist: (tx: Db): Promise<boolean> => hasOrganization(tx),

    find: (tx: Db, id: string): Promise<Organization | undefined> => findOrganization(tx, id),

    /**
     * Locks the organization's row until the transaction ends. Every change in an organization starts with it, so
     * changes run one after another, on every node, and a rule over several rows, such as that an admin remains, needs
     * no other lock.
     */
    async lock(tx: Db, id: string): Promise<LockedOrganization> {
      return (await lockOrganization(tx, id)) ?? missing(id);
    },

    /** Invalidates everything rendered from the organization's cost ledger, on every node. */
    costsChanged: (tx: Db, id: string): Promise<void> => bumpCostRevision(tx, id),
  };
}

function missing(id: string): never {
  throw new AppError('not_found', `organization ${id} does not exist`);
}
