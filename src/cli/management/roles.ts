import type { Static } from 'typebox';
import { AppError } from '../../kernel/errors.ts';
import { parseYamlOrJson } from '../../kernel/schemas/yaml-text.ts';
import type { RoleRecord } from '../../management/roles/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { type Api, type CommandContext, defineCommand, readInputFile, UsageError } from '../command.ts';
import {
  anyText,
  argument,
  flag,
  jsonOption,
  listOption,
  option,
  organizationOption,
  requiredOption,
} from '../parameters.ts';

export type Role = Static<typeof RoleRecord>;

const roleArgument = argument('<role>', 'Id or name of the role');
const policiesHelp = 'YAML or JSON file with the list of policies: allowDeny, permissions and resources of each';
const keyHelp = 'Ids of the keys that get the role; all others lose a custom role';
const OPTIONS = { name: 'name', policies: 'policies', actors: 'keys', removeOtherActors: 'removeOthers' };

/** By id, or by a name that only one role has. */
export async function findRole(api: Api, wanted: string): Promise<Role> {
  const all = await api.list<Role>('/roles');
  const found = all.filter(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
  const [first] = found;
  if (first && found.length === 1) return first;
  if (!first) throw new AppError('not_found', `role ${wanted} does not exist; role list shows the roles`);
  throw new AppError('conflict', `${found.length} roles are named ${wanted}; use the id of one of them`);
}

const listRoles = defineCommand({
  name: 'role list',
  summary: 'List system and custom roles',
  settings: API_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi }) =>
    withApi(async (api) => {
      const roles = await api.list<Role>('/roles');
      const rows = roles.map(({ id, name, type, policies, actors }) => [
        id,
        name,
        type,
        String(policies.length),
        String(actors.length),
      ]);
      return { json: roles, table: { header: ['ID', 'NAME', 'TYPE', 'POLICIES', 'KEYS'], rows } };
    }),
});

const getRole = defineCommand({
  name: 'role get',
  summary: 'Print a role with its policies and keys',
  settings: API_SETTINGS,
  arguments: { role: roleArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { role: wanted } }) =>
    withApi(async (api) => {
      const role = await findRole(api, wanted);
      return { json: role, lines: JSON.stringify(role, undefined, 2).split('\n') };
    }),
});

const createRole = defineCommand({
  name: 'role create',
  summary: 'Create a custom role',
  settings: API_SETTINGS,
  options: {
    org: organizationOption,
    name: requiredOption('<name>', 'Name of the role', anyText),
    policies: option('<file>', policiesHelp),
    keys: listOption('<id...>', 'Ids of the keys that get the role', anyText),
    json: jsonOption,
  },
  run: (context) =>
    context.withApi(async (api) => {
      const role = await api.call<Role>('/roles', { method: 'POST', body: toBody(context), options: OPTIONS });
      return { json: role, lines: [`Created role ${role.name}, ${role.id}.`] };
    }),
});

const updateRole = defineCommand({
  name: 'role update',
  summary: 'Change a role; omitted options keep their values',
  settings: API_SETTINGS,
  arguments: { role: roleArgument },
  options: {
    org: organizationOption,
    name: option('<name>', 'New name of the role'),
    policies: option('<file>', policiesHelp),
    keys: listOption('<id...>', keyHelp, anyText),
    removeOthers: flag('With --keys: all other keys lose the role, also a system role'),
    json: jsonOption,
  },
  run: (context) =>
    context.withApi(async (api) => {
      const { id } = await findRole(api, context.arguments.role);
      const removeOtherActors = context.options.removeOthers || undefined;
      const body = { ...toBody(context), removeOtherActors };
      const request = { method: 'PATCH', body, options: OPTIONS } as const;
      const role = await api.call<Role>(`/roles/${id}`, request);
      return { json: role, lines: [`Updated role ${role.name}.`] };
    }),
});

const deleteRole = defineCommand({
  name: 'role delete',
  summary: 'Delete a custom role that no key has',
  settings: API_SETTINGS,
  arguments: { role: roleArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { role: wanted } }) =>
    withApi(async (api) => {
      const role = await findRole(api, wanted);
      await api.call(`/roles/${role.id}`, { method: 'DELETE' });
      return { json: role, lines: [`Deleted role ${role.name}.`] };
    }),
});

export const roleCommands = [listRoles, getRole, createRole, updateRole, deleteRole];

interface RoleOptions {
  name: string | undefined;
  policies: string | undefined;
  keys: string[] | undefined;
}

function toBody(context: CommandContext<RoleOptions>): object {
  const { name, policies, keys } = context.options;
  return {
    name,
    policies: policies === undefined ? undefined : readPolicies(context, policies),
    actors: keys?.map((id) => `apiKey/${id}`),
  };
}

/** A list of policies, or an object with one, such as the output of role get. The API checks its contents. */
function readPolicies(context: CommandContext<RoleOptions>, path: string): unknown {
  const file = parseYamlOrJson(readInputFile(context, path), path);
  const policies = Array.isArray(file) ? file : (file as { policies?: unknown } | null)?.policies;
  if (policies === undefined) throw new UsageError([`${path} must contain a list of policies`]);
  return policies;
}
