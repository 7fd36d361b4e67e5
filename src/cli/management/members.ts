import type { Static } from 'typebox';
import type { CreatedInvitation, InvitationRecord, MemberRecord } from '../../management/members/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { type Api, defineCommand } from '../command.ts';
import { anyText, argument, jsonOption, listOption, organizationOption } from '../parameters.ts';
import { findRole } from './roles.ts';

type Member = Static<typeof MemberRecord>;
type Invitation = Static<typeof InvitationRecord>;

const memberArgument = argument('<id>', 'Id of the member, as listed by member list');
const invitationArgument = argument('<id>', 'Id of the invitation, as listed by invitation list');
const roleOption = listOption('<role...>', 'Roles by id or name; developer if omitted', anyText);
const OPTIONS = { userId: '<id>', invitationId: '<id>', email: '<email>', assignedRoleIds: 'role' };

const formatRoles = ({ assignedRoles }: Pick<Member, 'assignedRoles'>): string =>
  assignedRoles.map(({ roleName }) => roleName).join(',');

const findRoleIds = (api: Api, wanted: readonly string[]): Promise<string[]> =>
  Promise.all([...new Set(wanted)].map(async (name) => (await findRole(api, name)).id));

const listMembers = defineCommand({
  name: 'member list',
  summary: 'List members',
  settings: API_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi }) =>
    withApi(async (api) => {
      const members = await api.list<Member>('/members');
      const rows = members.map((member) => [
        member.userId,
        member.name,
        member.email,
        formatRoles(member),
        member.lastSeenAt ?? 'never',
      ]);
      return { json: members, table: { header: ['ID', 'NAME', 'EMAIL', 'ROLES', 'LAST SEEN'], rows } };
    }),
});

const inviteMember = defineCommand({
  name: 'member invite',
  summary: 'Invite a person and print the link, which works once and expires after seven days',
  settings: [...API_SETTINGS, 'publicUrl'],
  arguments: { email: argument('<email>', 'E-mail address of the person') },
  options: { org: organizationOption, role: roleOption, json: jsonOption },
  run: ({ withApi, readConfig, arguments: { email }, options: { role } }) =>
    withApi(async (api) => {
      const body = { email, ...(role && { assignedRoleIds: await findRoleIds(api, role) }) };
      const request = { method: 'POST', body, options: OPTIONS } as const;
      const invitation = await api.call<Static<typeof CreatedInvitation>>('/invitations', request);
      const { publicUrl, serverUrl } = readConfig();
      return {
        json: invitation,
        notes: [
          `Invited ${invitation.email} to ${api.organization.name} (${formatRoles(invitation)}). The link is shown only once.`,
        ],
        lines: [`${publicUrl ?? serverUrl ?? ''}${invitation.path}`],
      };
    }),
});

const removeMember = defineCommand({
  name: 'member remove',
  summary: 'Remove a member; their sessions end immediately',
  settings: API_SETTINGS,
  arguments: { id: memberArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { id } }) =>
    withApi(async (api) => {
      const path = `/members/${encodeURIComponent(id)}`;
      const member = await api.call<Member>(path, { options: OPTIONS });
      await api.call(path, { method: 'DELETE' });
      return { json: member, lines: [`Removed member ${member.name}.`] };
    }),
});

const listInvitations = defineCommand({
  name: 'invitation list',
  summary: 'List open invitations',
  settings: API_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi }) =>
    withApi(async (api) => {
      const invitations = await api.list<Invitation>('/invitations');
      const rows = invitations.map((one) => [one.id, one.email, formatRoles(one), one.expireAt]);
      return { json: invitations, table: { header: ['ID', 'EMAIL', 'ROLES', 'EXPIRES'], rows } };
    }),
});

const deleteInvitation = defineCommand({
  name: 'invitation delete',
  summary: 'Delete an invitation; its link stops working immediately',
  settings: API_SETTINGS,
  arguments: { id: invitationArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { id } }) =>
    withApi(async (api) => {
      const path = `/invitations/${encodeURIComponent(id)}`;
      const invitation = await api.call<Invitation>(path, { options: OPTIONS });
      await api.call(path, { method: 'DELETE' });
      return { json: invitation, lines: [`Deleted the invitation of ${invitation.email}.`] };
    }),
});

export const memberCommands = [listMembers, inviteMember, removeMember, listInvitations, deleteInvitation];
