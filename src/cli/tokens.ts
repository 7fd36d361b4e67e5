import { type Command, Option } from 'commander';
import { isoSeconds, isoTime } from '../kernel/clock.ts';
import { TOKEN_ACCESSES } from '../kernel/roles.ts';
import { DEFAULT_ACCESS, DEFAULT_TOKEN_NAME, type Token } from '../tokens/token.ts';
import {
  chosenOrganization,
  expiryOf,
  localActor,
  nameMistakes,
  STORE_SETTINGS,
  table,
  UsageError,
  type World,
  withDomains,
  withSettings,
} from './command.ts';

export function tokenCommands(program: Command, world: World): void {
  const token = program.command('token').description('dashboard tokens');
  withSettings(token.command('create').description('create a dashboard token; it is printed this once'), STORE_SETTINGS)
    .option('--org <id or name>', 'organization')
    .option('--name <name>', 'name of the token', DEFAULT_TOKEN_NAME)
    .addOption(
      new Option('--access <access>', 'what the token may do; write is also read')
        .choices(TOKEN_ACCESSES)
        .default(DEFAULT_ACCESS),
    )
    .option('--expires <time>', 'ISO 8601 date-time with an offset or Z')
    .option('--json', 'as JSON')
    .action(async (options) => {
      const mistakes = nameMistakes(options.name);
      if (mistakes.length > 0) throw new UsageError(mistakes);
      expiryOf(options.expires);
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const { token: created, text } = await domains.tokens.create(localActor(world), id, {
          name: options.name,
          access: options.access,
          expireAt: options.expires,
        });
        if (options.json)
          return world.print(
            JSON.stringify({ id: created.id, name: created.name, access: created.access, token: text }),
          );
        world.say(`Created dashboard token ${created.name}. It is shown this once.`);
        world.print(text);
      });
    });

  withSettings(token.command('list').description('list dashboard tokens'), STORE_SETTINGS)
    .option('--org <id or name>', 'organization')
    .option('--json', 'as JSON')
    .action(async (options) => {
      await withDomains(options, world, async (domains) => {
        const tokens = await domains.tokens.list((await chosenOrganization(domains, options.org)).id);
        if (options.json) return world.print(JSON.stringify(tokens.map(shown)));
        const rows = tokens
          .map(shown)
          .map(({ id, name, access, suffix, expireAt, usedAt }) => [
            id,
            name,
            access,
            `…${suffix}`,
            expireAt ?? 'never',
            usedAt ?? 'never',
          ]);
        for (const line of table(['ID', 'NAME', 'ACCESS', 'TOKEN', 'EXPIRES', 'LAST USED'], rows)) world.print(line);
      });
    });

  withSettings(token.command('delete').description('revoke a dashboard token at once'), STORE_SETTINGS)
    .argument('<id>', "the token record's id")
    .option('--org <id or name>', 'organization')
    .option('--json', 'as JSON')
    .action(async (id, options) => {
      await withDomains(options, world, async (domains) => {
        const organization = await chosenOrganization(domains, options.org);
        const deleted = await domains.tokens.remove(localActor(world), organization.id, id.toLowerCase());
        world.print(options.json ? JSON.stringify(shown(deleted)) : `Deleted dashboard token ${deleted.name}.`);
      });
    });
}

const shown = ({ id, name, access, tokenSuffix, createdAt, expireAt, usedAt }: Token) => ({
  id,
  name,
  access,
  suffix: tokenSuffix,
  createdAt: isoSeconds(createdAt),
  expireAt: expireAt === undefined ? null : isoTime(expireAt),
  usedAt: usedAt === undefined ? null : isoSeconds(usedAt),
});
