import { listOrganizations } from '../organizations/store.ts';
import type { Db } from '../state/tables.ts';
import type { Organization } from '../organizations/organization.ts';
import type { Kind } from './kinds/kind.ts';
import type { Fields, KindName } from './resource.ts';
import type { FleetFile } from './schema.ts';

interface Kinds {
  organization: Kind<Organization>;
  others: Kind<never>[];
}

/** Where each kind stands in a file. */
const MEMBERS: Partial<Record<KindName, string>> = {
  service: 'services',
  key: 'keys',
  token: 'dashboardTokens',
  source: 'sources',
  dashboard: 'dashboards',
  cost: 'usageCosts',
};

/** Wide enough for every day there can be. */
const EVERY_DAY = ['0001-01-01', '9999-12-31'].map((date) => ({ kind: 'cost' as const, id: '', path: '', fields: { date } }));

export async function exportFleet(db: Db, { organization: organizationKind, others }: Kinds): Promise<FleetFile> {
  const organizations: Fields[] = [];
  for (const organization of await listOrganizations(db)) {
    const exported: Fields = { id: organization.id, ...organizationKind.fieldsOf(organization) };
    for (const kind of others) {
      const member = MEMBERS[kind.name];
      const resources = await kind.load(db, organization.id, kind.name === 'cost' ? EVERY_DAY : []);
      const fields = inSteadyOrder(kind.name, resources).map(([id, resource]) => ({ ...(kind.name === 'cost' ? {} : { id }), ...kind.fieldsOf(resource) }));
      if (member && fields.length > 0) exported[member] = fields;
    }
    organizations.push(exported);
  }
  return { organizations } as unknown as FleetFile;
}

/** Lists come by age. Dashboards and costs come in whatever order the store likes, so they go by id: an export can be compared with the last one. */
function inSteadyOrder<T>(kind: KindName, resources: Map<string, T>): [string, T][] {
  const all = [...resources];
  return kind === 'dashboard' || kind === 'cost' ? all.sort(([a], [b]) => (a < b ? -1 : 1)) : all;
}
