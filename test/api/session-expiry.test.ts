import { expect, it } from 'vitest';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { keysPath } from '../support/keys.ts';
import { onEachStore } from '../support/server.ts';
import { getSession, type SignedIn, signIn } from '../support/sessions.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const organization = `/v1/organizations/${acme.id}`;

onEachStore('the lifetime of a session', (store) => {
  const server = useClockedServer(store, { isShared: true });
  const status = async ({ headers }: SignedIn) => (await server.call({ path: organization, headers })).status;

  const untilRecorded = () =>
    until(
      async () => Number((await runSql(server, 'SELECT max(seen_at) AS at FROM console_sessions'))[0]?.at),
      (at) => at >= server.now - MINUTE,
      'the use is not recorded',
    );

  it('ends after two hours without a request', async () => {
    const session = await signIn(server, acme.admin);
    server.now += 2 * HOUR - 1;
    const other = await signIn(server, acme.admin);
    server.now += 1;
    expect(await status(session)).toBe(401);
    expect((await getSession(server, session)).status).toBe(401);
    expect(await status(other)).toBe(200);
  });

  it('continues while it is used, and ends 12 hours after sign-in', async () => {
    const session = await signIn(server, acme.admin);
    const { expiresAt } = session.json;
    expect(Date.parse(expiresAt)).toBe(server.now + 12 * HOUR);
    const step = 110 * MINUTE;
    for (let elapsed = step; elapsed < 12 * HOUR; elapsed += step) {
      server.now += step;
      expect(await status(session), `after ${elapsed / MINUTE} minutes`).toBe(200);
      // Stopping the server writes the recorded use, which another node then reads. So does a moment.
      if (elapsed === step) await server.restart();
      else await untilRecorded();
    }
    expect((await getSession(server, session)).json.expiresAt).toBe(expiresAt);
    server.now = Date.parse(expiresAt) - 1;
    expect(await status(session)).toBe(200);
    server.now += 1;
    expect(await status(session)).toBe(401);
    expect((await getSession(server, session)).status).toBe(401);
  });

  it('records its use in the background', async () => {
    const session = await signIn(server, acme.admin);
    server.now += HOUR;
    expect(await status(session)).toBe(200);
    const later = async () => {
      server.now += 90 * MINUTE;
      try {
        return await status(session);
      } finally {
        server.now -= 90 * MINUTE;
      }
    };
    await until(later, (value) => value === 200, 'two and a half hours after signing in, but not after the last use');
  });

  it('K9: ends with its key, to the millisecond', async () => {
    const expireAt = new Date(server.now + HOUR).toISOString();
    const body = { name: 'brief', roles: ['admin'], expireAt };
    const { json } = await server.call({ method: 'POST', path: keysPath(), key: acme.admin, body });
    const session = await signIn(server, { keyId: json.result.keyId, keySecret: json.result.keySecret });
    expect(Date.parse(session.json.expiresAt)).toBe(Date.parse(expireAt));
    server.now += HOUR - 1;
    expect(await status(session)).toBe(200);
    server.now += 1;
    expect(await status(session)).toBe(401);
  });

  it('K9: ends immediately when its key is set to expire earlier', async () => {
    const creation = { method: 'POST', path: keysPath(), key: acme.admin, body: { name: 'long', roles: ['admin'] } };
    const { key, ...credentials } = (await server.call(creation)).json.result;
    const session = await signIn(server, credentials);
    const body = { expireAt: new Date(server.now + MINUTE).toISOString() };
    await server.call({ method: 'PATCH', path: `${keysPath()}/${key.id}`, key: acme.admin, body });
    server.now += MINUTE;
    expect(await status(session)).toBe(401);
  });

  it('a credential has at most 100 sessions; the oldest end first', async () => {
    const first = await signIn(server, acme.admin);
    server.now += 1;
    const second = await signIn(server, acme.admin);
    const other = await signIn(server, acme.developer);
    for (let i = 2; i < 101; i++) {
      server.now += 1;
      await signIn(server, acme.admin);
    }
    expect(await status(first)).toBe(401);
    expect(await status(second)).toBe(200);
    expect(await status(other)).toBe(200);
  });
});
