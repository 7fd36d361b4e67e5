import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listErrors, useStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStore } from '../support/server.ts';

onEachStore('a store that does not exist', (store) => {
  const at = useStore(store, { isMigrated: false });
  const file = join(import.meta.dirname, 'missing-store.test.ts');

  it.each([
    ['org', 'list'],
    ['service', 'list'],
    ['service', 'scale', 'analytics', '--replicas', '3'],
    ['key', 'create'],
    ['token', 'list'],
    ['role', 'list'],
    ['dashboard', 'list'],
    ['prices', 'show'],
    ['usage', 'summary'],
    ['usage', 'rate'],
    ['usage', 'import', file, '--format', 'csv'],
    ['usage', 'confirm-clock'],
    ['budget', 'list'],
    ['audit', 'list'],
    ['audit', 'verify'],
    ['export'],
  ])('is not created by %s %s', async (...command) => {
    const finished = await at.run(...command);
    expect([finished.code, finished.stdout]).toEqual([1, '']);
    const place =
      store === 'libsql'
        ? `There is no store in ${at.directory}/data: ${at.directory}/data/state.db does not exist; check --data`
        : 'There is no store in the database; check --database-url';
    expect(listErrors(finished)).toEqual([`${place}. pilothouse serve, demo, apply, init and restore create one`]);
    expect(existsSync(join(at.directory, 'data'))).toBe(false);
    // It is still missing, also in the database.
    expect((await at.run('org', 'list')).code).toBe(1);
  });

  it('is not created by doctor, which passes, and is created by apply', async () => {
    const doctor = await at.run('doctor', '--port', '0');
    expect(doctor).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('has no store yet; pilothouse serve creates it'),
    });
    expect(existsSync(join(at.directory, 'data'))).toBe(false);
    expect((await at.run('org', 'list')).code).toBe(1);
    expect((await at.apply(fleet)).code).toBe(0);
    expect((await at.run('org', 'list')).stdout).toContain(acme.id);
  });
});

onEachStore('names with control characters', (store) => {
  const at = useStore(store);

  it('are escaped on the terminal and unchanged in JSON', async () => {
    const name = 'a\u001b[31mb\u009bc';
    expect((await at.apply({ organizations: [{ name }] })).code).toBe(0);
    expect((await at.run('org', 'list')).stdout).toContain('a\\u001b[31mb\\u009bc');
    expect(JSON.parse((await at.run('org', 'list', '--json')).stdout)).toMatchObject([{ name }]);
  });
});
