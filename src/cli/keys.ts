import type { Command } from 'commander';
import { isoSeconds, systemClock } from '../kernel/clock.ts';
import { isKeyRole, KEY_ROLES, type KeyRole } from '../kernel/roles.ts';
import { isActive, KEY_STATES, type Key } from '../keys/key.ts';
import { toKeyRecord } from '../keys/schema.ts';
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

export function keyCommands(program: Command, world: World): void {
  const key = program.command('key').description('API keys');
  const command = (name: string, description: string) =>
    withSettings(
      key
        .command(name)
        .description(description)
        .option('--org <id or name>', 'organization')
        .option('--json', 'as JSON'),
      STORE_SETTINGS,
    );

  command('list', 'list keys').action(async (options) => {
    await withDomains(options, world, async (domains) => {
      const keys = await domains.keys.list((await chosenOrganization(domains, options.org)).id);
      if (options.json) return world.print(JSON.stringify(keys.map(toKeyRecord)));
      const rows = keys.map((one) => [
        one.id,
        one.name,
        `…${one.keySuffix}`,
        stateOf(one),
        one.roles.join(','),
        one.usedAt === undefined ? 'never' : isoSeconds(one.usedAt),
      ]);
      for (const line of table(['ID', 'NAME', 'KEY ID', 'STATE', 'KEY_ROLES', 'LAST USED'], rows)) world.print(line);
    });
  });

  command('create', 'create a key; its secret is printed this once')
    .option('--name <name>', 'name of the key')
    .option('--role <role...>', KEY_ROLES.join(', '))
    .option('--expires <time>', 'ISO 8601 date-time with an offset or Z')
    .option('--state <state>', KEY_STATES.join(', '))
    .action(async (options) => {
      const roles = options.role as string[] | undefined;
      const wrong = (roles ?? []).filter((role) => !isKeyRole(role));
      const mistakes = [
        ...nameMistakes(options.name),
        ...wrong.map((role) => `--role must be one of ${KEY_ROLES.join(', ')}, not "${role}"`),
      ];
      if (options.state !== undefined && !KEY_STATES.includes(options.state))
        mistakes.push(`--state must be one of ${KEY_STATES.join(', ')}`);
      if (mistakes.length > 0) throw new UsageError(mistakes);
      expiryOf(options.expires);
      await withDomains(options, world, async (domains) => {
        const { id } = await chosenOrganization(domains, options.org);
        const settings = {
          name: options.name,
          roles: roles && ([...new Set(roles)] as KeyRole[]),
          expireAt: options.expires,
          state: options.state,
        };
        const { key: created, credentials } = await domains.keys.create(localActor(world), id, settings);
        if (options.json) return world.print(JSON.stringify({ key: toKeyRecord(created), ...credentials }));
        world.say(`Created key ${created.name} (${created.roles.join(', ')}). The secret is shown this once.`);
        world.print(`${credentials?.keyId}:${credentials?.keySecret}`);
      });
    });

  command('disable', 'disable a key at once')
    .argument('<id>', "the key record's id")
    .action(async (id, options) => {
      await withDomains(options, world, async (domains) => {
        const organization = await chosenOrganization(domains, options.org);
        const disabled = await domains.keys.update(localActor(world), organization.id, id.toLowerCase(), {
          state: 'disabled',
        });
        world.print(
          options.json
            ? JSON.stringify(toKeyRecord(disabled))
            : `Disabled key ${disabled.name} (…${disabled.keySuffix}).`,
        );
      });
    });

  command('rotate', 'give a key a new secret; the old one stops working at once')
    .argument('<id>', "the key record's id")
    .action(async (id, options) => {
      await withDomains(options, world, async (domains) => {
        const organization = await chosenOrganization(domains, options.org);
        const { key: rotated, keySecret } = await domains.keys.rotate(
          localActor(world),
          organization.id,
          id.toLowerCase(),
        );
        if (options.json) return world.print(JSON.stringify({ key: toKeyRecord(rotated), keySecret }));
        world.say(`The key id …${rotated.keySuffix} stays; its new secret is shown this once.`);
        world.print(keySecret);
      });
    });
}

function stateOf(key: Key): string {
  return key.state === 'enabled' && !isActive(key, systemClock.now()) ? 'expired' : key.state;
}
