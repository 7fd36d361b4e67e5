import type { Command } from 'commander';
import { isoSeconds } from '../kernel/clock.ts';
import { toExtendedRecord } from '../services/schema.ts';
import { chosenOrganization, STORE_SETTINGS, table, type World, withDomains, withSettings } from './command.ts';

export function organizationCommands(program: Command, world: World): void {
  const org = program.command('org').description('organizations');
  withSettings(
    org.command('list').description('list organizations').option('--json', 'as JSON'),
    STORE_SETTINGS,
  ).action(async (options) => {
    await withDomains(options, world, async ({ organizations }) => {
      const all = await organizations.list();
      if (options.json)
        return world.print(
          JSON.stringify(
            all.map(({ id, name, tier, isPaid, createdAt }) => ({
              id,
              name,
              tier,
              paid: isPaid,
              createdAt: isoSeconds(createdAt),
            })),
          ),
        );
      const rows = all.map(({ id, name, tier, isPaid }) => [id, name, tier, isPaid ? 'paid' : 'not paid']);
      for (const line of table(['ID', 'NAME', 'TIER', 'PAID'], rows)) world.print(line);
    });
  });
}

export function serviceCommands(program: Command, world: World): void {
  const service = program.command('service').description('database services');
  withSettings(
    service
      .command('list')
      .description('list services')
      .option('--org <id or name>', 'organization')
      .option('--json', 'as JSON'),
    STORE_SETTINGS,
  ).action(async (options) => {
    await withDomains(options, world, async (domains) => {
      const services = await domains.services.list((await chosenOrganization(domains, options.org)).id);
      if (options.json) return world.print(JSON.stringify(services.map(toExtendedRecord)));
      const rows = services.map(({ id, name, kind, state, scaling }) => [
        id,
        name,
        kind,
        state,
        String(scaling.numReplicas),
        `${scaling.minReplicaMemoryGb}–${scaling.maxReplicaMemoryGb} GB`,
        scaling.idleScaling ? `after ${scaling.idleTimeoutMinutes} min` : 'never',
      ]);
      for (const line of table(['ID', 'NAME', 'KIND', 'STATE', 'REPLICAS', 'PER REPLICA', 'IDLES'], rows))
        world.print(line);
    });
  });
}
