import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getServerStore, listErrors, useStore } from '../support/cli.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { EMPTY_FLEET } from '../support/setup.ts';

onEachStore('pilothouse init', (name) => {
  const store = useStore(name);

  it('creates the first organization, prints its admin key once and writes a fleet file that changes nothing', async () => {
    const file = join(store.directory, 'fleet.yaml');
    const created = await store.run('init', '--name', 'Acme', '--tier', 'ENTERPRISE', '--fleet-out', file);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[A-Za-z0-9]{20}:phs_\w+\n$/) });
    const [keyId = '', keySecret = ''] = created.stdout.trim().split(':');
    expect(await store.exportFirstOrganization()).toMatchObject({
      name: 'Acme',
      tier: 'ENTERPRISE',
      paid: true,
      keys: [{ name: 'admin', roles: ['admin'], hashData: { keyIdSuffix: keyId.slice(-4) } }],
    });
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const secret of [keyId, keySecret]) expect(text).not.toContain(secret);
    expect(await store.plan(text)).toEqual([]);

    const again = await store.run('init', '--name', 'Other');
    expect(again.code).toBe(1);
    expect(listErrors(again)).toEqual(['An organization already exists; sign in with one of its keys']);
  });

  it('rejects wrong values before it opens the store', async () => {
    const wrong = await store.run('init', '--name', '', '--tier', 'gold');
    expect(wrong.code).toBe(2);
    expect(listErrors(wrong)).toEqual([
      '--name must have 1 to 255 characters, not ""',
      '--tier must be one of BASIC, SCALE, ENTERPRISE, not "gold"',
    ]);
  });

  it('prints the key even if the fleet file cannot be written', async () => {
    const file = join(store.directory, 'missing', 'fleet.yaml');
    const { code, stdout, stderr } = await store.run('init', '--name', 'Acme', '--fleet-out', file);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^[A-Za-z0-9]{20}:phs_\w+\n$/);
    expect(stderr).toContain(`${file} was not written`);
  });

  it('is what the other commands ask for on an empty store', async () => {
    const { stderr } = await store.run('key', 'create');
    expect(stderr).toMatch(/create one with pilothouse init|init and restore create one/);
  });
});

onEachStore('pilothouse init beside a server', (name) => {
  const server = useServer(name, { fleet: EMPTY_FLEET });

  it('creates an organization that the server serves at once', async () => {
    const { code, stdout, stderr } = await getServerStore(server).run('init', '--name', 'Acme', '--json');
    expect(code, stderr).toBe(0);
    const { organization, keyId, keySecret, fleetFile } = JSON.parse(stdout);
    const path = `/v1/organizations/${organization.id}`;
    expect(await server.call({ path, key: { keyId, keySecret } })).toMatchObject({ status: 200 });
    expect((await server.call({ path: '/console/config' })).json.needsSetup).toBe(false);
    expect(fleetFile).toContain(organization.id);
  });
});
