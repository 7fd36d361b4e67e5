import { isoSeconds } from '../../kernel/time/clock.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand } from '../command.ts';
import { connectToServer } from '../connection/api.ts';
import { jsonOption } from '../parameters.ts';

export const listOrganizations = defineCommand({
  name: 'org list',
  summary: 'List organizations; on a server, the organization of the key',
  settings: API_SETTINGS,
  options: { json: jsonOption },
  async run({ findServer, withDomains }) {
    const server = await findServer();
    if (server) {
      const { id, name, tier, createdAt } = (await connectToServer(server)).organization;
      return {
        json: [{ id, name, tier, createdAt }],
        table: { header: ['ID', 'NAME', 'TIER'], rows: [[id, name, tier]] },
      };
    }
    return withDomains(async ({ organizations }) => {
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
    });
  },
});
