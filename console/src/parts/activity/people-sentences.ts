import { plural } from '../format/format.ts';
import { about, type Describe, type Fields } from './sentence.ts';

/** "(admin, developer)". */
const formatRoles = ({ roles }: Fields): string =>
  Array.isArray(roles) && roles.length > 0 ? `(${roles.join(', ')})` : '';

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
  organization_member_update_roles: about('changed the roles of'),
  console_sessions_end: ({ before }, name) => ({
    action: `ended ${typeof before.sessions === 'number' ? plural(before.sessions, 'session') : 'sessions'} of`,
    resource: name,
  }),
};
