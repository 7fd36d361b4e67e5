import { plural } from '../format/format.ts';
import { about, type Describe, type Fields } from './sentence.ts';

const CUSTOM_ROLE = /^[0-9a-f]{8}-/;

/** "admin, developer"; the audit log has the ids of custom roles. */
const listRoles = (roles: unknown[]): string =>
  roles.map((role) => (CUSTOM_ROLE.test(String(role)) ? `${String(role).slice(0, 8)}…` : String(role))).join(', ') ||
  'none';

/** "(admin, developer)". */
const formatRoles = ({ roles }: Fields): string =>
  Array.isArray(roles) && roles.length > 0 ? `(${listRoles(roles)})` : '';

/** "(from developer to admin)". */
const formatRoleChange = (before: Fields, after: Fields): string =>
  Array.isArray(before.roles) && Array.isArray(after.roles)
    ? `(from ${listRoles(before.roles)} to ${listRoles(after.roles)})`
    : '';

/** Members, invitations and their sessions. */
export const PEOPLE_SENTENCES: Readonly<Record<string, Describe>> = {
  organization_update_member_rules: about('changed the member rules of the organization'),
  organization_invite_create: ({ after }, name) => ({ action: 'invited', resource: name, rest: formatRoles(after) }),
  organization_invite_delete: about('deleted the invitation of'),
  organization_member_join: ({ after }) => ({ action: 'accepted an invitation', rest: formatRoles(after) }),
  organization_member_add: ({ after }, name) => ({
    action: 'added the member',
    resource: name,
    rest: formatRoles(after),
  }),
  organization_member_leave: () => ({ action: 'left the organization' }),
  organization_member_delete: about('removed the member'),
  organization_member_update_roles: ({ before, after }, name) => ({
    action: 'changed the roles of',
    resource: name,
    rest: formatRoleChange(before, after),
  }),
  console_sessions_end: ({ before }, name) => ({
    action: `ended ${typeof before.sessions === 'number' ? plural(before.sessions, 'session') : 'sessions'} of`,
    resource: name,
  }),
};
