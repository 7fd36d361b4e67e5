import { expect, it, vi } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import { isLongRun } from '../support/long-run.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStore, onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { EMPTY_FLEET, readSetupCode, setUp } from '../support/setup.ts';
import { readStoreText } from '../support/store-text.ts';

// Starts servers of three processes several times.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

/** 300 failed attempts are allowed. */
const GUESSES = 310;

onEachStore('the first organization', (store) => {
  // Three processes start instead of one.
  const args = store === 'libsql' || isLongRun ? ['--workers', '2'] : [];
  const server = useServer(store, { fleet: EMPTY_FLEET, inProcess: false, args });
  const needsSetup = async () => (await server.call({ path: '/console/config' })).json.needsSetup;

  it('is created once, with a code that only the log of the server has', async () => {
    const earlier = await readSetupCode(server);
    await server.stop();
    await server.restart();
    const code = await readSetupCode(server);
    expect(code).not.toBe(earlier);
    expect(await needsSetup()).toBe(true);
    const text = await readStoreText(server);
    expect(text).not.toContain(earlier);
    expect(text).not.toContain(code);

    expect(await setUp(server, { code: `${code}x` })).toMatchObject({ status: 401 });
    expect((await setUp(server, {})).json.errors).toEqual([expect.objectContaining({ path: 'code' })]);
    expect((await setUp(server, { code, name: '', tier: 'GOLD' })).json.errors).toEqual([
      expect.objectContaining({ path: 'name' }),
      expect.objectContaining({ path: 'tier' }),
    ]);
    expect(await needsSetup()).toBe(true);

    // The code of an earlier start, or of another node, is valid too: nodes share the store.
    const name = `Acme: "1" # 'ünit' - {}`;
    const attempts = await Promise.all(
      [earlier, code, earlier, code].map((used) => setUp(server, { code: used, name })),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const { headers, json } = attempts.find(({ status }) => status === 200) ?? expect.fail();
    expect(headers.get('cache-control')).toBe('no-store');
    const { organization, keyId, keySecret, fleetFile } = json;
    expect(organization).toEqual({ id: expect.any(String), name, tier: 'SCALE' });

    const path = `/v1/organizations/${organization.id}`;
    const key = { keyId, keySecret };
    expect((await server.call({ path, key })).json.result).toMatchObject({ name, tier: 'SCALE' });
    expect((await server.call({ path: `${path}/keys`, key })).json.result).toMatchObject([
      { name: 'admin', roles: ['admin'] },
    ]);
    const { result: activities } = (await server.call({ path: `${path}/activities`, key })).json;
    expect(activities.map(({ type }: { type: string }) => type).sort()).toEqual(['create_organization', 'key_create']);
    expect(activities[0]).toMatchObject({ actorDetails: 'pilothouse setup', actorIpAddress: '127.0.0.1' });

    // No file declares the organization yet, so it can be renamed.
    for (const body of [{ name: 'Acme' }, { name }])
      expect(await server.call({ method: 'PATCH', path, key, body })).toMatchObject({
        status: 200,
        json: { result: body },
      });
    expect(fleetFile).not.toContain(keySecret);
    expect(fleetFile).not.toContain(keyId);
    expect(await getServerStore(server).plan(fleetFile)).toEqual([]);
    expect(await needsSetup()).toBe(false);
    expect(await setUp(server, { code })).toMatchObject({ status: 409 });

    const stored = await readStoreText(server);
    for (const secret of [keySecret, keyId, code]) expect(stored).not.toContain(secret);
    expect(server.log()).not.toContain(keySecret);
    await server.stop();
    await server.restart();
    expect(await needsSetup()).toBe(false);
    expect(server.log()).not.toContain('/setup#code=');
  });
});

onEachStore('guessing the setup code', (store) => {
  const server = useServer(store, { fleet: EMPTY_FLEET });

  it('counts as failed authentication of the address', async () => {
    const statuses: number[] = [];
    // A few at a time: on a busy machine, requests that wait long for a connection to the store are a 503.
    for (let sent = 0; sent < GUESSES; sent += 10) {
      const guesses = Array.from({ length: 10 }, (_, index) => setUp(server, { code: `guess${sent + index}` }));
      statuses.push(...(await Promise.all(guesses)).map(({ status }) => status));
    }
    expect(statuses).toEqual([...Array(300).fill(401), ...Array(GUESSES - 300).fill(429)]);
  });
});

onEachStoreInLongRuns(
  'several nodes',
  (store) => {
    const server = useServer(store, { fleet: EMPTY_FLEET, inProcess: false, sharedEngine: true });

    it('each print a code that is valid on the other', async () => {
      const second = await startSecondServer(server);
      try {
        const code = await readSetupCode(second);
        expect(await readSetupCode(server)).not.toBe(code);
        const { status, json } = await setUp(server, { code });
        expect(status).toBe(200);
        const path = `/v1/organizations/${json.organization.id}`;
        expect(await second.call({ path, key: json })).toMatchObject({ status: 200 });
        expect((await second.call({ path: '/console/config' })).json.needsSetup).toBe(false);
      } finally {
        await second.stop();
      }
    });
  },
  { short: 'postgres' },
);
