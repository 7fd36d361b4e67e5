import { isSigned } from '../../management/notifications/channel.ts';
import { listOrganizations } from '../../management/organizations/store.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Fields } from './declared.ts';
import { alertKind, toExportedAlert } from './kinds/alert.ts';
import { channelKind } from './kinds/channel.ts';
import { costKind } from './kinds/cost.ts';
import { dashboardKind } from './kinds/dashboard.ts';
import { keyKind } from './kinds/key.ts';
import type { Kind } from './kinds/kind.ts';
import { organizationKind } from './kinds/organization.ts';
import { roleKind } from './kinds/role.ts';
import { savedSearchKind } from './kinds/saved-search.ts';
import { serviceKind } from './kinds/service.ts';
import { sourceKind } from './kinds/source.ts';
import { tokenKind } from './kinds/token.ts';
import type { FleetFile } from './schema.ts';

/** Covers every possible day. */
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
    const listWithIds = async <T>(kind: Kind<T>) =>
      [...(await kind.load(db, id, []))].map(([resourceId, resource]) => ({
        id: resourceId,
        ...(kind.toExportFields ?? kind.toFields)(resource),
      }));
    const costs = await costKind.load(db, id, EVERY_DAY);
    const members = {
      services: await listWithIds(serviceKind),
      roles: await listWithIds(roleKind),
      keys: await listWithIds(keyKind),
      dashboardTokens: await listWithIds(tokenKind),
      sources: await listWithIds(sourceKind),
      dashboards: sortById(await listWithIds(dashboardKind)),
      channels: await listWithIds(channelKind),
      savedSearches: await listWithIds(savedSearchKind),
      alerts: await exportAlerts(db, id),
      usageCosts: [...costs.keys()]
        .sort()
        .flatMap((costId) => costs.get(costId) ?? [])
        .map(costKind.toFields),
    };
    const filled = Object.entries(members).filter(([, list]) => list.length > 0);
    organizations.push({
      id,
      ...(organizationKind.toExportFields ?? organizationKind.toFields)(organization),
      ...Object.fromEntries(filled),
    });
  }
  return { organizations } as unknown as FleetFile;
}

async function exportAlerts(db: Db, organizationId: string): Promise<Fields[]> {
  const alerts = await alertKind.load(db, organizationId, []);
  const targets = {
    channels: await channelKind.load(db, organizationId, []),
    savedSearches: await savedSearchKind.load(db, organizationId, []),
    dashboards: await dashboardKind.load(db, organizationId, []),
  };
  return [...alerts].map(([id, alert]) => ({ id, ...toExportedAlert(alert, targets) }));
}

/** The store returns dashboards in no particular order; an export must be comparable with the previous one. */
const sortById = <T extends { id: string }>(list: T[]): T[] => list.sort((a, b) => (a.id < b.id ? -1 : 1));

/** A warning for each secret that an export leaves out. The store that the export comes from keeps them. */
export const listOmittedSecrets = ({ organizations }: FleetFile): string[] =>
  organizations.flatMap(({ services = [], channels = [] }, index) => [
    ...services.flatMap(({ webhook, kubernetes }, at) => {
      const path = `organizations[${index}].services[${at}]`;
      return [
        ...(webhook ? [`${path}.webhook.secret ${OMITTED}`] : []),
        ...(kubernetes?.username === undefined ? [] : [`${path}.kubernetes.password ${OMITTED}`]),
      ];
    }),
    ...channels.flatMap(({ service }, at) => {
      const path = `organizations[${index}].channels[${at}]`;
      if (service === 'pagerduty') return [`${path}.routingKey ${OMITTED}`];
      return isSigned(service) ? [`${path}: headers, queryParams and signingSecret are not exported`] : [];
    }),
  ]);

const OMITTED = 'is not exported; add it before you apply the file to another store';
