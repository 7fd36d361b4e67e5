import { listOrganizations } from '../organizations/store.ts';
import type { Db } from '../state/tables.ts';
import { costKind } from './kinds/cost.ts';
import { dashboardKind } from './kinds/dashboard.ts';
import { keyKind } from './kinds/key.ts';
import type { Kind } from './kinds/kind.ts';
import { organizationKind } from './kinds/organization.ts';
import { serviceKind } from './kinds/service.ts';
import { sourceKind } from './kinds/source.ts';
import { tokenKind } from './kinds/token.ts';
import type { Fields } from './resource.ts';
import type { FleetFile } from './schema.ts';

/** Wide enough for every day there can be. */
const EVERY_DAY = ['0001-01-01', '9999-12-31'].map((date) => ({
  kind: 'cost' as const,
  id: '',
  path: '',
  fields: { date },
}));

export async function exportFleet(db: Db): Promise<FleetFile> {
  const organizations: Fields[] = [];
  for (const organization of await listOrganizations(db)) {
    const { id } = organization;
    const withIds = async <T>(kind: Kind<T>) =>
      [...(await kind.load(db, id, []))].map(([own, resource]) => ({ id: own, ...kind.fieldsOf(resource) }));
    const costs = await costKind.load(db, id, EVERY_DAY);
    const members = {
      services: await withIds(serviceKind),
      keys: await withIds(keyKind),
      dashboardTokens: await withIds(tokenKind),
      sources: await withIds(sourceKind),
      dashboards: byId(await withIds(dashboardKind)),
      usageCosts: [...costs.keys()]
        .sort()
        .flatMap((own) => costs.get(own) ?? [])
        .map(costKind.fieldsOf),
    };
    const filled = Object.entries(members).filter(([, list]) => list.length > 0);
    organizations.push({ id, ...organizationKind.fieldsOf(organization), ...Object.fromEntries(filled) });
  }
  return { organizations } as unknown as FleetFile;
}

/** A store gives dashboards in whatever order it likes; an export should compare with the last one. */
const byId = <T extends { id: string }>(list: T[]): T[] => list.sort((a, b) => (a.id < b.id ? -1 : 1));
