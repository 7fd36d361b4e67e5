import { plural } from '../format/format.ts';
import { formatRoleNames } from './activity-roles.ts';
import { about, type Describe, type Fields, type Names } from './sentence.ts';

/** "(admin, developer)". */
const formatRoles = ({ roles }: Fields, names: Names): string =>
  Array.isArray(roles) && roles.length > 0 ? `(${formatRoleNames(roles, names)})` : '';

/** "(from developer to admin)". */
const formatRoleChange = (before: Fields, after: Fields, names: Names): string =>
  Array.isArray(before.roles) && Array.isArray(after.roles)
    ? `(from ${formatRoleNames(before.roles, names)} to ${formatRoleNames(after.roles, names)})`
    : '';

/** Members, invitations and their sessions. */
export const PEOPLE_SENTENCES: Readonly<Record<string, Describe>> = {
  organization_update_member_rules: about('changed the member rules of the organization'),
  organization_update_sql_literals: ({ after }) => ({
    action:
      after.keepSqlLiterals === true
        ? 'turned on keeping literals of statements'
        : 'turned off keeping literals of statements',
    rest: 'in the audit log',
  }),
  organization_invite_create: ({ after }, name, names) => ({
    action: 'invited',
    resource: name,
    rest: formatRoles(after, names),
  }),
  organization_invite_delete: about('deleted the invitation of'),
  organization_member_join: ({ after }, _name, names) => ({
    action: 'accepted an invitation',
    rest: formatRoles(after, names),
  }),
  organization_member_add: ({ after }, name, names) => ({
    action: 'added the member',
    resource: name,
    rest: formatRoles(after, names),
  }),
  organization_member_leave: () => ({ action: 'left the organization' }),
  organization_member_delete: about('removed the member'),
  organization_member_update_roles: ({ before, after }, name, names) => ({
    action: 'changed the roles of',
    resource: name,
    rest: formatRoleChange(before, after, names),
  }),
  console_sessions_end: ({ before }, name) => ({
    action: `ended ${typeof before.sessions === 'number' ? plural(before.sessions, 'session') : 'sessions'} of`,
    resource: name,
  }),
};
