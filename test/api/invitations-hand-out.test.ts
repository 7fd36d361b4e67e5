import { expect, it } from 'vitest';
import type { Credentials, Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { accept, getInvitationsPath, getMembersPath, invite, join } from '../support/members.ts';
import { createPolicy, createRoleClient, ORGANIZATION } from '../support/roles.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const INVITATIONS = getInvitationsPath(acme);

onEachStore('an invitation without an identity provider', (store) => {
  const server = useServer(store, { args: ['--max-keys', '1000'] });
  const { send, createKeyWith } = createRoleClient(server);
  const createInviter = () => createKeyWith(createPolicy(['control-plane:organization:manage-members']));
  const inviteAs = (key: Credentials, email: string, body: object) =>
    send('POST', INVITATIONS, { email, ...body }, key);
  const getSecret = ({ json }: { json: Json }): string => json.result.path.split('#')[1];
  const listActivities = async (type: string): Promise<Json[]> =>
    (await send('GET', `${ORGANIZATION}/activities?limit=1000`)).json.result.filter(
      (activity: Json) => activity.type === type,
    );

  it('R4: of a member with more rights than the inviter is rejected', async () => {
    const { credentials, role } = await createInviter();
    const boss = await join(server, acme, 'boss@acme.example', { role: 'admin' });
    for (const email of ['boss@acme.example', 'BOSS@Acme.example']) {
      const { status, json } = await inviteAs(credentials, email, { assignedRoleIds: [role.id] });
      expect([status, json.error]).toEqual([
        403,
        expect.stringMatching(
          /^FORBIDDEN: The member boss@acme.example permits operations that this key does not have/,
        ),
      ]);
    }
    expect((await inviteAs(credentials, 'new@acme.example', { assignedRoleIds: [role.id] })).status).toBe(200);
    const again = await join(server, acme, 'boss@acme.example', { role: 'developer' });
    expect([again.userId, again.session.credential.roles]).toEqual([boss.userId, ['admin', 'developer']]);
  });

  it('R4: does not sign in as a member that got more rights meanwhile', async () => {
    const { credentials, role } = await createInviter();
    const email = 'promoted@acme.example';
    await join(server, acme, email, { assignedRoleIds: [role.id] });
    const created = await inviteAs(credentials, email, { assignedRoleIds: [role.id] });
    expect(created.status, created.text).toBe(200);
    const members = (await send('GET', getMembersPath(acme))).json.result;
    const { userId } = members.find((member: Json) => member.email === email);
    await send('PATCH', `${getMembersPath(acme)}/${userId}`, { role: 'admin' });
    const refused = await accept(server, getSecret(created));
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([409, null]);
    expect(refused.text).toContain('The roles of this member have changed since the invitation was made');
    // The administrator may: with a new invitation.
    await send('DELETE', `${INVITATIONS}/${created.json.result.id}`);
    expect((await join(server, acme, email)).userId).toBe(userId);
  });

  it('R4: of a person who joined meanwhile with more rights does not sign in', async () => {
    const { credentials, role } = await createInviter();
    const email = 'raced@acme.example';
    const created = await inviteAs(credentials, email, { assignedRoleIds: [role.id] });
    expect(created.status, created.text).toBe(200);
    // As if the person had opened the link of an administrator before.
    await runSql(server, `UPDATE invitations SET email = 'kept@acme.example' WHERE email = '${email}'`);
    await join(server, acme, email, { role: 'admin' });
    await runSql(server, `UPDATE invitations SET email = '${email}' WHERE email = 'kept@acme.example'`);
    expect((await accept(server, getSecret(created))).status).toBe(409);
  });

  it('R4: with more roles ends the sessions that earlier links have opened', async () => {
    const { credentials, role } = await createInviter();
    const email = 'claimed@acme.example';
    const early = await inviteAs(credentials, email, { assignedRoleIds: [role.id] });
    const opened = await accept(server, getSecret(early));
    const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
    const read = () => server.call({ path: '/console/session', headers: { cookie } });
    expect((await read()).status).toBe(200);
    // The same rights again: the member is signed in on two machines.
    await join(server, acme, email, { assignedRoleIds: [role.id] });
    expect((await read()).status).toBe(200);
    await join(server, acme, email, { role: 'admin' });
    expect((await read()).status).toBe(401);
  });

  it('the audit log names the inviter', async () => {
    const { id, credentials } = await createKey(server, { name: 'people', roles: ['admin'] });
    const email = 'named@acme.example';
    const invitedBy = `people (${id})`;
    await join(server, { ...acme, admin: credentials }, email);
    await join(server, { ...acme, admin: credentials }, email, { role: 'admin' });
    const own = (activity: Json) => JSON.stringify(activity).includes(email);
    for (const type of ['organization_member_join', 'organization_member_update_roles', 'user_login']) {
      const [activity] = (await listActivities(type)).filter(own);
      expect(activity?.after, type).toMatchObject({ invitedBy });
    }
  });

  it('of the version before, without an inviter, still works for a new member', async () => {
    const { secret } = await invite(server, acme, 'older@acme.example');
    await runSql(server, "UPDATE invitations SET invited_by = 'null', approved_roles = 'null'");
    expect((await accept(server, secret)).status).toBe(200);
  });
});
