import { isoSeconds, systemClock } from '../kernel/clock.ts';
import { toServiceRecord } from '../services/schema.ts';
import { STORE_SETTINGS } from '../settings.ts';
import { defineCommand } from './command.ts';
import { jsonOption, organizationOption } from './parameters.ts';

export const listOrganizations = defineCommand({
  name: 'org list',
  summary: 'List organizations',
  settings: STORE_SETTINGS,
  options: { json: jsonOption },
  run: ({ withDomains }) =>
    withDomains(async ({ organizations }) => {
      const all = await organizations.list();
      return {
        json: all.map(({ id, name, tier, isPaid, createdAt }) => ({
          id,
          name,
          tier,
          paid: isPaid,
          createdAt: isoSeconds(createdAt),
        })),
        table: {
          header: ['ID', 'NAME', 'TIER', 'PAID'],
          rows: all.map(({ id, name, tier, isPaid }) => [id, name, tier, isPaid ? 'yes' : 'no']),
        },
      };
    }),
});

export const listServices = defineCommand({
  name: 'service list',
  summary: 'List database services',
  settings: STORE_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization }) =>
    withOrganization(async (organization, domains) => {
      const services = await domains.services.list(organization.id);
      const records = services.map((service) => toServiceRecord(service, systemClock));
      const rows = services.map(({ id, name, kind, scaling }, index) => [
        id,
        name,
        kind,
        records[index]?.state ?? '',
        String(scaling.numReplicas),
        `${scaling.minReplicaMemoryGb}–${scaling.maxReplicaMemoryGb} GB`,
        scaling.idleScaling ? `after ${scaling.idleTimeoutMinutes} min` : 'never',
      ]);
      return {
        json: records,
        table: { header: ['ID', 'NAME', 'KIND', 'STATE', 'REPLICAS', 'MEMORY PER REPLICA', 'SCALE TO ZERO'], rows },
      };
    }),
});
