import type { Static } from 'typebox';
import { isKeyRole, KEY_ROLES } from '../../kernel/access/roles.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { KEY_STATES } from '../../management/keys/key.ts';
import type { CreateKeyResult, KeyRecord, RotateKeyResult } from '../../management/keys/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { type Api, defineCommand } from '../command.ts';
import { anyText, argument, jsonOption, listOption, numberRule, option, organizationOption } from '../parameters.ts';
import { findRole, type Role } from './roles.ts';

type Key = Static<typeof KeyRecord>;

const keyArgument = argument('<id>', 'Id of the key, as listed by key list');
const OPTIONS = {
  keyId: '<id>',
  name: 'name',
  roles: 'role',
  assignedRoleIds: 'role',
  expireAt: 'expires',
  state: 'state',
  ipAccessList: 'allow',
  gracePeriodHours: 'grace',
};

const listKeys = defineCommand({
  name: 'key list',
  summary: 'List API keys',
  settings: API_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi }) =>
    withApi(async (api) => {
      const keys = await api.list<Key>('/keys');
      const rows = keys.map((key) => [
        key.id,
        key.name,
        `…${key.keySuffix}`,
        formatState(key),
        key.assignedRoles.map(({ roleName }) => roleName).join(','),
        key.usedAt ?? 'never',
      ]);
      return { json: keys, table: { header: ['ID', 'NAME', 'KEY ID', 'STATE', 'ROLES', 'LAST USED'], rows } };
    }),
});

const createKey = defineCommand({
  name: 'key create',
  summary: 'Create an API key and print its secret, which is shown only once',
  settings: [...API_SETTINGS, 'maxKeys'],
  options: {
    org: organizationOption,
    name: option('<name>', 'Name of the key'),
    role: listOption('<role...>', `Roles: ${KEY_ROLES.join(', ')}, or the id or name of a custom role`, anyText),
    expires: option('<time>', 'Expiry as an ISO 8601 date and time with an offset or Z; never if omitted'),
    state: option('<state>', `State: ${KEY_STATES.join(', ')}`),
    allow: listOption('<address...>', 'Addresses or CIDRs that may use the key; all if omitted', anyText),
    json: jsonOption,
  },
  run: ({ withApi, options: { name, role, expires, state, allow } }) =>
    withApi(async (api) => {
      const body = {
        name,
        ...(role && (await toRoles(api, [...new Set(role)]))),
        expireAt: expires,
        state,
        ipAccessList: allow?.map((source) => ({ source })),
      };
      const created = await api.call<Static<typeof CreateKeyResult>>('/keys', {
        method: 'POST',
        body,
        options: OPTIONS,
      });
      const { key, keyId, keySecret } = created;
      const roles = key.assignedRoles.map(({ roleName }) => roleName).join(', ');
      return {
        json: created,
        notes: [`Created key ${key.name} (${roles}). The secret is shown only once.`],
        lines: [`${keyId}:${keySecret}`],
      };
    }),
});

/** If no role is a custom one, names are sent, so that the API lists those it does not know with all other mistakes. */
async function toRoles(api: Api, wanted: readonly string[]) {
  const isCustom = wanted.some((name) => !isKeyRole(name)) && (await api.list<Role>('/roles')).some(isOneOf(wanted));
  if (!isCustom) return { roles: wanted };
  return { assignedRoleIds: await Promise.all(wanted.map(async (name) => (await findRole(api, name)).id)) };
}

const isOneOf =
  (wanted: readonly string[]) =>
  ({ id, name, type }: Role): boolean =>
    wanted.includes(id) || (type === 'custom' && wanted.includes(name));

const disableKey = defineCommand({
  name: 'key disable',
  summary: 'Disable an API key immediately',
  settings: API_SETTINGS,
  arguments: { id: keyArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { id } }) =>
    withApi(async (api) => {
      const request = { method: 'PATCH', body: { state: 'disabled' }, options: OPTIONS } as const;
      const key = await api.call<Key>(`/keys/${encodeURIComponent(id)}`, request);
      return { json: key, lines: [`Disabled key ${key.name} (…${key.keySuffix}).`] };
    }),
});

const deleteKey = defineCommand({
  name: 'key delete',
  summary: 'Delete an API key; it stops working immediately',
  settings: API_SETTINGS,
  arguments: { id: keyArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { id } }) =>
    withApi(async (api) => {
      const path = `/keys/${encodeURIComponent(id)}`;
      const key = await api.call<Key>(path, { options: OPTIONS });
      await api.call(path, { method: 'DELETE' });
      return { json: key, lines: [`Deleted key ${key.name} (…${key.keySuffix}).`] };
    }),
});

const rotateKey = defineCommand({
  name: 'key rotate',
  summary: 'Replace an API key with a new one that has the same settings; the old key keeps working for a grace period',
  settings: [...API_SETTINGS, 'maxKeys'],
  arguments: { id: keyArgument },
  options: {
    org: organizationOption,
    grace: option('<hours>', 'Hours until the old key expires, 0 to 168; 24 if omitted', numberRule),
    json: jsonOption,
  },
  run: ({ withApi, arguments: { id }, options: { grace } }) =>
    withApi(async (api) => {
      const request = { method: 'POST', body: { gracePeriodHours: grace }, options: OPTIONS } as const;
      const path = `/keys/${encodeURIComponent(id)}/rotate`;
      const rotated = await api.call<Static<typeof RotateKeyResult>>(path, request);
      const { key, previous, keyId, keySecret } = rotated;
      return {
        json: rotated,
        notes: [
          `Rotated key ${key.name}. The old key (…${previous.keySuffix}) expires at ${previous.expireAt}.`,
          'The new secret is shown only once.',
        ],
        lines: [`${keyId}:${keySecret}`],
      };
    }),
});

export const keyCommands = [listKeys, createKey, disableKey, rotateKey, deleteKey];

function formatState({ state, expireAt }: Key): string {
  return state === 'enabled' && expireAt !== null && Date.parse(expireAt) <= systemClock.now() ? 'expired' : state;
}
