import { afterAll, beforeAll, expect, it } from 'vitest';
import { getSystemRoleId } from '../../src/kernel/access/roles.ts';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useMailServer } from '../support/mail-server.ts';
import { accept, getInvitationsPath, getMembersPath, invite, join } from '../support/members.ts';
import { onEachStore, START_LIMIT_MS, startServer, type TestServer, useServer } from '../support/server.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';

const key = acme.admin;
const members = getMembersPath(acme);
const invitations = getInvitationsPath(acme);

onEachStore('members', (store) => {
  const server = useServer(store, { inProcess: false, args: ['--log-level', 'trace'] });
  const listTypes = async (): Promise<string[]> =>
    (await server.call({ path: `/v1/organizations/${acme.id}/activities`, key })).json.result.map(
      ({ type }: Json) => type,
    );

  it('joins by an invitation, whose link works once and is neither stored nor logged', async () => {
    const { invitation, secret } = await invite(server, acme, 'Ada@Acme.example', { role: 'admin' });
    expect(invitation).toEqual({
      id: expect.any(String),
      email: 'ada@acme.example',
      role: 'admin',
      createdAt: expect.any(String),
      expireAt: expect.any(String),
      assignedRoles: [{ roleId: getSystemRoleId('admin'), roleName: 'admin', roleType: 'system' }],
      path: `/invitation#${secret}`,
      mail: 'off',
    });
    expect(Date.parse(invitation.expireAt) - Date.parse(invitation.createdAt)).toBe(7 * 86_400_000);
    const { path: _, mail: __, ...record } = invitation;
    expect((await server.call({ path: `${invitations}/${invitation.id}`, key })).json.result).toEqual(record);
    expect((await server.call({ path: invitations, key })).json.result).toContainEqual(record);
    const opened = await server.call({ method: 'POST', path: '/console/invitation', body: { secret } });
    expect(opened.json).toEqual({
      email: 'ada@acme.example',
      organizationName: 'Acme',
      expireAt: expect.any(String),
      needsProvider: false,
    });

    const accepted = await accept(server, secret);
    expect(accepted.status, accepted.text).toBe(200);
    expect(accepted.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect((await accept(server, secret)).status).toBe(401);
    expect((await server.call({ path: `${invitations}/${invitation.id}`, key })).status).toBe(404);
    const [member] = (await server.call({ path: members, key })).json.result;
    expect(member).toMatchObject({ name: 'ada@acme.example', email: 'ada@acme.example', role: 'admin' });
    expect(await listTypes()).toEqual(
      expect.arrayContaining(['organization_invite_create', 'organization_member_join', 'user_login']),
    );
    expect(`${await readStoreText(server)}${server.log()}`).not.toContain(secret);
  });

  it('a second invitation signs the same member in again', async () => {
    const first = await join(server, acme, 'again@acme.example');
    const second = await join(server, acme, 'AGAIN@acme.example');
    expect(second.userId).toBe(first.userId);
    const elsewhere = await join(server, globex, 'again@acme.example');
    expect(elsewhere.userId).not.toBe(first.userId);
  });

  it('a member acts with its roles, and the audit log has its name', async () => {
    const { headers, userId } = await join(server, acme, 'dev@acme.example');
    expect((await server.call({ path: `/v1/organizations/${acme.id}/services`, headers })).status).toBe(200);
    const rejected = await server.call({ method: 'POST', path: invitations, headers, body: { email: 'x@y.example' } });
    expect(rejected.status).toBe(403);
    const changed = await server.call({
      method: 'PATCH',
      path: `${members}/${userId}`,
      key,
      body: { assignedRoleIds: [getSystemRoleId('admin')] },
    });
    expect(changed.json.result).toMatchObject({ userId, role: 'admin' });
    await until(
      () => server.call({ path: `${members}/${userId}`, key }),
      ({ json }) => json.result.lastSeenAt !== undefined,
      'the last use is not stored',
    );
    const invited = await server.call({ method: 'POST', path: invitations, headers, body: { email: 'x@y.example' } });
    expect(invited.status, invited.text).toBe(200);
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/activities?actor=${userId}`, key });
    expect(json.result[0]).toMatchObject({ actorType: 'user', actorId: userId, actorDetails: 'dev@acme.example' });
    expect((await server.call({ path: '/api/v2/dashboards', headers })).status).toBe(200);
    expect((await server.call({ path: '/v1/whoami', headers })).json.result).toEqual({
      actorType: 'user',
      userId,
      email: 'dev@acme.example',
      name: 'dev@acme.example',
      organizations: [{ organizationId: acme.id, organizationName: 'Acme' }],
    });
  });

  it('a removed member loses access with the next request', async () => {
    const { headers, userId } = await join(server, acme, 'gone@acme.example');
    const path = `${members}/${userId}`;
    expect((await server.call({ path, key })).status).toBe(200);
    expect((await server.call({ method: 'DELETE', path, key })).status).toBe(200);
    expect((await server.call({ path, key })).status).toBe(404);
    expect((await server.call({ path: members, headers })).status).toBe(401);
    expect((await server.call({ path: '/console/session', headers })).status).toBe(401);
  });

  it('the last admin can be neither removed nor demoted', async () => {
    const owner = globex;
    const path = getMembersPath(owner);
    const { userId } = await join(server, owner, 'last@globex.example', { role: 'admin' });
    for (const call of [
      { method: 'DELETE' },
      { method: 'PATCH', body: { role: 'developer' } },
      { method: 'PATCH', body: { assignedRoleIds: [] } },
    ]) {
      const response = await server.call({ ...call, path: `${path}/${userId}`, key: owner.admin });
      expect([response.status, response.text]).toEqual([409, expect.stringContaining('the last admin')]);
    }
    await join(server, owner, 'other@globex.example', { role: 'admin' });
    const demoted = await server.call({
      method: 'PATCH',
      path: `${path}/${userId}`,
      key: owner.admin,
      body: { role: 'developer' },
    });
    expect(demoted.status).toBe(200);
  });

  it('custom roles: a role that a member or an invitation has cannot be deleted', async () => {
    const roles = `/v1/organizations/${acme.id}/roles`;
    const policies = [{ allowDeny: 'ALLOW', permissions: ['control-plane:service:view'], resources: ['instance/*'] }];
    const created = await server.call({ method: 'POST', path: roles, key, body: { name: 'viewers', policies } });
    const roleId = created.json.result.id;
    const { headers, userId } = await join(server, acme, 'viewer@acme.example', { assignedRoleIds: [roleId] });
    expect((await server.call({ path: `/v1/organizations/${acme.id}/services`, headers })).status).toBe(200);
    expect((await server.call({ path: members, headers })).status).toBe(403);
    const rejected = await server.call({ method: 'DELETE', path: `${roles}/${roleId}`, key });
    expect([rejected.status, rejected.text]).toEqual([409, expect.stringContaining('the member viewer@acme.example')]);
    const body = { assignedRoleIds: [getSystemRoleId('developer')] };
    await server.call({ method: 'PATCH', path: `${members}/${userId}`, key, body });
    expect((await server.call({ method: 'DELETE', path: `${roles}/${roleId}`, key })).status).toBe(200);
    const unknown = await server.call({
      method: 'PATCH',
      path: `${members}/${userId}`,
      key,
      body: { assignedRoleIds: [roleId] },
    });
    expect(unknown.status).toBe(400);
  });

  it('rejects invalid and repeated invitations, and deletes them', async () => {
    const post = (body: object) => server.call({ method: 'POST', path: invitations, key, body });
    for (const email of ['', 'x', 'a b@c.example', `${'x'.repeat(250)}@y.example`, 'x@y.example\u0000'])
      expect((await post({ email })).status, email).toBe(400);
    expect((await post({ email: 'a@b.example', role: 'owner' })).status).toBe(400);
    const { invitation, secret } = await invite(server, acme, 'twice@acme.example');
    expect((await post({ email: 'TWICE@acme.example' })).status).toBe(409);
    const path = `${invitations}/${invitation.id}`;
    expect((await server.call({ method: 'DELETE', path, key })).status).toBe(200);
    expect((await accept(server, secret)).status).toBe(401);
    expect((await server.call({ method: 'DELETE', path, key })).status).toBe(404);
  });
});

onEachStore('the settings of invitations', (store) => {
  const mail = useMailServer();
  let server: TestServer;
  beforeAll(async () => {
    const smtp = ['--smtp-url', `smtp://user:p%40ss@127.0.0.1:${mail.port}`, '--smtp-from', 'ops@example.com'];
    const args = ['--console-key-sign-in', 'off', '--public-url', 'https://pilothouse.example/ops', ...smtp];
    server = await startServer(store, { args });
  }, START_LIMIT_MS);
  afterAll(() => server.remove());

  it('with a mail server, the link is sent', async () => {
    const { invitation, secret } = await invite(server, acme, 'mailed@acme.example');
    expect(invitation.mail).toBe('sent');
    const [received] = mail.received;
    expect(received?.to).toEqual(['mailed@acme.example']);
    // Long lines are folded.
    expect(received?.source.replaceAll('=\r\n', '')).toContain(`https://pilothouse.example/ops/invitation#${secret}`);
    const failed = await invite(server, acme, 'rejected@example.com');
    expect(failed.invitation.mail).toBe('failed');
  });

  it('sign-in with a key can be turned off', async () => {
    const rejected = await server.call({ method: 'POST', path: '/console/session', body: acme.admin });
    expect([rejected.status, rejected.text]).toEqual([403, expect.stringContaining('turned off')]);
    expect((await join(server, acme, 'only@acme.example')).session.kind).toBe('member');
  });
});
