import type { Fields } from './sentence.ts';

const CUSTOM_ROLE = /^[0-9a-f]{8}-/;

/** The ids of the custom roles that an activity is about: the audit log has no names of them. */
export const listCustomRoles = ({ before = {}, after = {} }: { before?: Fields; after?: Fields }): string[] =>
  [before, after]
    .flatMap(({ roles, customRoleIds }) => [roles, customRoleIds].flat())
    .filter((role): role is string => typeof role === 'string' && CUSTOM_ROLE.test(role));

/** "admin, developer". */
export const formatRoleNames = (roles: readonly unknown[], names: ReadonlyMap<string, string>): string =>
  roles.map((role) => formatRoleName(String(role), names)).join(', ') || 'none';

function formatRoleName(role: string, names: ReadonlyMap<string, string>): string {
  return names.get(role) ?? (CUSTOM_ROLE.test(role) ? `${role.slice(0, 8)}…` : role);
}
