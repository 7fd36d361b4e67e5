import { isoSeconds } from '../kernel/clock.ts';
import { STORE_SETTINGS } from '../settings.ts';
import { defineCommand } from './command.ts';
import { jsonOption } from './parameters.ts';

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
