import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { createKey, getKeyId } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { postSession, SESSION, signIn } from '../support/sessions.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';

const path = `/v1/organizations/${acme.id}/activities`;
type Server = { call: ReturnType<typeof useServer>['call'] };

const list = async (server: Server, query: string): Promise<Json[]> => {
  const { status, json, text } = await server.call({ path: `${path}?${query}`, key: acme.admin });
  expect(status, text).toBe(200);
  return json.result;
};

const untilListed = (server: Server, query: string): Promise<Json[]> =>
  until(
    () => list(server, query),
    (activities) => activities.length > 0,
    `the audit log has no activities for ${query}`,
  );

onEachStore('the audit log of the console', (store) => {
  const server = useServer(store);

  it('has sign-ins and sign-outs, with the address, and no secret', async () => {
    const id = await getKeyId(server, 'admin');
    const session = await signIn(server, acme.admin, { 'user-agent': 'browser 1' });
    const out = await server.call({ method: 'DELETE', path: SESSION, headers: session.cookie });
    expect(out.status).toBe(200);
    // Signing out again ends no session.
    await server.call({ method: 'DELETE', path: SESSION, headers: session.cookie });
    await server.call({
      method: 'DELETE',
      path: SESSION,
      headers: { cookie: `${session.cookieName}=${'x'.repeat(43)}` },
    });
    const [signedOut, signedIn, ...rest] = await list(server, 'resource_type=session');
    expect(rest).toEqual([]);
    const actor = { actorType: 'api', actorId: id, actorDetails: 'admin', actorIpAddress: '127.0.0.1', resourceId: id };
    expect(signedIn).toMatchObject({
      ...actor,
      type: 'user_login',
      activityType: 'console_sign_in',
      userAgent: 'browser 1',
      requestId: expect.any(String),
      after: { name: 'admin', credential: 'key' },
    });
    expect(signedOut).toMatchObject({
      ...actor,
      type: 'user_logout',
      activityType: 'console_sign_out',
      requestId: out.headers.get('x-request-id'),
      before: { name: 'admin', credential: 'key' },
    });
    expect(JSON.stringify([signedIn, signedOut])).not.toContain(session.secret);
  });

  it('has sign-ins with a token', async () => {
    await signIn(server, { token: acme.token });
    const [activity] = await list(server, 'type=console_sign_in&actor=wallboard');
    expect(activity).toMatchObject({ actorDetails: 'wallboard', after: { credential: 'token' } });
    expect(JSON.stringify(activity)).not.toContain(acme.token);
  });

  it('has failed sign-ins with a known key, once per address and minute, and none with an unknown one', async () => {
    const { id, credentials } = await createKey(server, { name: 'guessed' });
    const attempt = { ...credentials, keySecret: 'a guess that must not be stored' };
    for (let round = 0; round < 20; round++) expect((await postSession(server, attempt)).status).toBe(401);
    const unknown = { keyId: 'UNKNOWNKEYID00000000', keySecret: 'x' };
    expect((await postSession(server, unknown)).status).toBe(401);
    expect((await postSession(server, { token: 'an unknown token' })).status).toBe(401);
    const activities = await untilListed(server, `type=console_sign_in_failed&resource_id=${id}`);
    expect(activities[0]).toMatchObject({
      actorType: 'system',
      actorId: 'console',
      actorDetails: 'Console',
      actorIpAddress: '127.0.0.1',
      after: { name: 'guessed', credential: 'key', reason: 'secret not valid' },
    });
    // Twenty attempts are in at most two minutes.
    expect(activities.length).toBeLessThanOrEqual(2);
    expect((await list(server, 'type=console_sign_in_failed')).every(({ resourceId }) => resourceId === id)).toBe(true);
    const stored = await readStoreText(server);
    for (const secret of [attempt.keySecret, unknown.keyId, 'an unknown token']) expect(stored).not.toContain(secret);
  });

  it('has sign-ins with a disabled key and from a forbidden address, with the reason', async () => {
    const disabled = await createKey(server, { name: 'off', state: 'disabled' });
    expect((await postSession(server, disabled.credentials)).status).toBe(401);
    const elsewhere = await createKey(server, { name: 'elsewhere', ipAccessList: [{ source: '192.0.2.1' }] });
    expect((await postSession(server, elsewhere.credentials)).status).toBe(403);
    for (const [id, reason] of [
      [disabled.id, 'not active'],
      [elsewhere.id, 'address not allowed'],
    ]) {
      const [activity] = await untilListed(server, `type=console_sign_in_failed&resource_id=${id}`);
      expect(activity.after.reason).toBe(reason);
    }
  });
});

onEachStore('failed sign-ins', (store) => {
  const server = useClockedServer(store);

  it('are recorded again after a minute, and before the server stops', async () => {
    const wrong = { ...acme.admin, keySecret: 'wrong' };
    for (const minutes of [0, 0, 1, 1, 2]) {
      server.now = Date.parse('2026-11-02T10:00:30Z') + minutes * 60_000;
      expect((await postSession(server, wrong)).status).toBe(401);
    }
    await server.restart();
    expect(await list(server, 'type=console_sign_in_failed')).toHaveLength(3);
  });
});
