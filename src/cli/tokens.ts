import type { Command } from 'commander';
import {
  chosenOrganization,
  expiryOf,
  localActor,
  nameMistakes,
  STORE_SETTINGS,
  UsageError,
  type World,
  withDomains,
  withSettings,
} from './command.ts';

export function tokenCommands(program: Command, world: World): void {
  const token = program.command('token').description('dashboard tokens');
  withSettings(token.command('create').description('create a dashboard token; it is printed this once'), STORE_SETTINGS)
    .option('--org <id or name>', 'organization')
    .option('--name <name>', 'name of the token', 'dashboard token')
    .option('--expires <time>', 'ISO 8601 date-time with an offset or Z')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const mistakes = nameMistakes(options.name);
      if (mistakes.length > 0) throw new UsageError(mistakes);
      const expireAt = expiryOf(options.expires);
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const { token: created, text } = await domains.tokens.create(localActor(world), id, options.name, expireAt);
        if (options.json) return world.print(JSON.stringify({ id: created.id, name: created.name, token: text }));
        world.say(`Created dashboard token ${created.name}. It is shown this once.`);
        world.print(text);
      });
    });
}
