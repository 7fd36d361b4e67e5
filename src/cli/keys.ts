import { formatExpiry } from '../credentials/expiry.ts';
import { isoSeconds, systemClock } from '../kernel/clock.ts';
import { KEY_ROLES } from '../kernel/roles.ts';
import { isActive, KEY_STATES, type Key } from '../keys/key.ts';
import { MAX_GRACE_HOURS, toGracePeriodMs, toKeyRecord } from '../keys/schema.ts';
import { INVALID, STORE_SETTINGS } from '../settings.ts';
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
  type ValueRule,
} from './parameters.ts';

const graceRule: ValueRule<number> = {
  rule: 'must be a number of hours from 0 to 168',
  parse: (text) => {
    const hours = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    return hours <= MAX_GRACE_HOURS ? hours : INVALID;
  },
};

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
        key.assignedRoles.map(({ roleName }) => roleName).join(','),
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
  summary: 'Replace an API key by a new one with the same settings; the old key keeps working for a grace period',
  settings: STORE_SETTINGS,
  arguments: { id: keyArgument },
  options: {
    org: organizationOption,
    grace: option('<hours>', 'Hours until the old key expires, 0 to 168; 24 if omitted', graceRule),
    json: jsonOption,
  },
  run: ({ withOrganization, actor, arguments: { id }, options: { grace } }) =>
    withOrganization(async (organization, domains) => {
      const gracePeriodMs = toGracePeriodMs(grace);
      const rotated = await domains.keys.rotate(actor(), organization.id, id.toLowerCase(), { gracePeriodMs });
      const { key, previous, credentials } = rotated;
      return {
        json: { key: toKeyRecord(key), ...credentials, previous: toKeyRecord(previous) },
        notes: [
          `Rotated key ${key.name}. The old key (…${previous.keySuffix}) expires at ${formatExpiry(previous.expireAt)}.`,
          'The new secret is shown only once.',
        ],
        lines: [`${credentials?.keyId}:${credentials?.keySecret}`],
      };
    }),
});

export const keyCommands = [listKeys, createKey, disableKey, rotateKey];

function formatState(key: Key): string {
  return key.state === 'enabled' && !isActive(key, systemClock.now()) ? 'expired' : key.state;
}
