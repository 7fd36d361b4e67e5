import { isoSeconds, systemClock } from '../kernel/clock.ts';
import { KEY_ROLES } from '../kernel/roles.ts';
import { isActive, KEY_STATES, type Key } from '../keys/key.ts';
import { toKeyRecord } from '../keys/schema.ts';
import { STORE_SETTINGS } from '../settings.ts';
import { defineCommand } from './command.ts';
import {
  argument,
  expiryRule,
  jsonOption,
  listOption,
  nameRule,
  oneOf,
  option,
  organizationOption,
} from './parameters.ts';

const keyArgument = argument('<id>', 'Id of the key, as listed by key list');

const listKeys = defineCommand({
  name: 'key list',
  summary: 'List API keys',
  settings: STORE_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization }) =>
    withOrganization(async (organization, domains) => {
      const keys = await domains.keys.list(organization.id);
      const rows = keys.map((key) => [
        key.id,
        key.name,
        `…${key.keySuffix}`,
        formatState(key),
        key.roles.join(','),
        key.usedAt === undefined ? 'never' : isoSeconds(key.usedAt),
      ]);
      return {
        json: keys.map(toKeyRecord),
        table: { header: ['ID', 'NAME', 'KEY ID', 'STATE', 'ROLES', 'LAST USED'], rows },
      };
    }),
});

const createKey = defineCommand({
  name: 'key create',
  summary: 'Create an API key and print its secret, which is shown only once',
  settings: STORE_SETTINGS,
  options: {
    org: organizationOption,
    name: option('<name>', 'Name of the key', nameRule),
    role: listOption('<role...>', `Roles: ${KEY_ROLES.join(', ')}`, oneOf(KEY_ROLES)),
    expires: option('<time>', 'Expiry as an ISO 8601 date and time with an offset or Z; never if omitted', expiryRule),
    state: option('<state>', `State: ${KEY_STATES.join(', ')}`, oneOf(KEY_STATES)),
    json: jsonOption,
  },
  run: ({ withOrganization, actor, options: { name, role, expires, state } }) =>
    withOrganization(async (organization, domains) => {
      const { key, credentials } = await domains.keys.create(actor(), organization.id, {
        name,
        roles: role && [...new Set(role)],
        expireAt: expires,
        state,
      });
      return {
        json: { key: toKeyRecord(key), ...credentials },
        notes: [`Created key ${key.name} (${key.roles.join(', ')}). The secret is shown only once.`],
        lines: [`${credentials?.keyId}:${credentials?.keySecret}`],
      };
    }),
});

const disableKey = defineCommand({
  name: 'key disable',
  summary: 'Disable an API key immediately',
  settings: STORE_SETTINGS,
  arguments: { id: keyArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, actor, arguments: { id } }) =>
    withOrganization(async (organization, domains) => {
      const key = await domains.keys.update(actor(), organization.id, id.toLowerCase(), { state: 'disabled' });
      return { json: toKeyRecord(key), lines: [`Disabled key ${key.name} (…${key.keySuffix}).`] };
    }),
});

const rotateKey = defineCommand({
  name: 'key rotate',
  summary: 'Replace the secret of an API key; the old secret stops working immediately',
  settings: STORE_SETTINGS,
  arguments: { id: keyArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, actor, arguments: { id } }) =>
    withOrganization(async (organization, domains) => {
      const { key, keySecret } = await domains.keys.rotate(actor(), organization.id, id.toLowerCase());
      return {
        json: { key: toKeyRecord(key), keySecret },
        notes: [`Rotated key ${key.name} (…${key.keySuffix}). The new secret is shown only once.`],
        lines: [keySecret],
      };
    }),
});

export const keyCommands = [listKeys, createKey, disableKey, rotateKey];

function formatState(key: Key): string {
  return key.state === 'enabled' && !isActive(key, systemClock.now()) ? 'expired' : key.state;
}
