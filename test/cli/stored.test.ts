import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorsOf, useStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStore, PROGRAM } from '../support/server.ts';

/** One organization in which everything says when it was made. */
function made(createdAt: string) {
  return {
    organizations: [
      {
        id: acme.id,
        name: 'Acme',
        createdAt,
        services: [{ id: acme.secondary, name: 'reader', createdAt }],
        keys: [{ ...acme.admin, name: 'admin', roles: ['admin'], createdAt }],
        dashboardTokens: [{ name: 'wallboard', token: acme.token, createdAt }],
      },
    ],
  };
}

onEachStore('what a fleet file leaves in the store', (store) => {
  const at = useStore(store);

  it('F1: a time of creation that the file changes is stored, so forcing the file again changes nothing', async () => {
    const later = made('2026-02-03T04:05:06Z');
    expect((await at.apply(made('2026-01-01T00:00:00Z'))).code).toBe(0);
    expect(await at.plan(later)).toHaveLength(4);
    expect(await at.plan(later, '--force')).toEqual([]);
  });

  it('K7: hashData with a further member is refused, and what stands in it is not printed', async () => {
    const hash = `${'A'.repeat(43)}=`;
    const hashData = { keyIdHash: hash, keyIdSuffix: 'AAAA', keySecretHash: hash, keySecret: 'in plain text' };
    const finished = await at.apply({ organizations: [{ name: 'Acme', keys: [{ hashData }] }] });
    expect(finished.code).toBe(2);
    expect(errorsOf(finished)).toEqual([
      expect.stringMatching(/^organizations\[0\]\.keys\[0\]\.hashData\.keySecret: There is no such member/),
    ]);
    expect(finished.stderr).not.toContain('in plain text');
  });

  it('S2: a tier that the services no longer fit is refused, also where the file leaves them alone', async () => {
    const organization = { id: acme.id, name: 'Acme', tier: 'SCALE' };
    const services = [{ id: acme.primary, name: 'analytics', numReplicas: 3 }];
    expect((await at.apply({ organizations: [{ ...organization, services }] })).code).toBe(0);
    const finished = await at.apply({ organizations: [{ ...organization, tier: 'BASIC', services }] });
    expect([finished.code, errorsOf(finished)]).toEqual([
      2,
      ['organizations[0].services[0].numReplicas: A service of a BASIC organization has exactly 1 replica <number:3>'],
    ]);
  });
});

describe('the program and what is around it', () => {
  const at = useStore('libsql');

  it('keeps the embedded store to its owner', async () => {
    expect((await at.apply(fleet)).code).toBe(0);
    expect(statSync(join(at.directory, 'data', 'state.db')).mode & 0o077).toBe(0);
  });

  it('ends quietly when nobody reads its output any more', async () => {
    expect((await at.apply(fleet)).code).toBe(0);
    const command = `"$0" "$1" export --data "$2" | head -c 10`;
    const data = join(at.directory, 'data');
    const { stderr } = spawnSync('sh', ['-c', command, process.execPath, PROGRAM, data], { encoding: 'utf8' });
    expect(stderr).toBe('');
  });
});
