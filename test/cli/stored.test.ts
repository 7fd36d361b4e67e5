import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listErrors, useStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { withSecretsKey } from '../support/secrets-key.ts';
import { onEachStore, PROGRAM } from '../support/server.ts';

/** One organization whose resources all declare a creation time. */
function fleetCreatedAt(createdAt: string) {
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

onEachStore('stored fields of a fleet file', (store) => {
  const at = useStore(store);

  it('F1: a changed creation time is stored, so applying the file again with --force changes nothing', async () => {
    const later = fleetCreatedAt('2026-02-03T04:05:06Z');
    expect((await at.apply(fleetCreatedAt('2026-01-01T00:00:00Z'))).code).toBe(0);
    expect(await at.plan(later)).toHaveLength(4);
    expect(await at.plan(later, '--force')).toEqual([]);
  });

  it('K7: rejects unknown fields in hashData without printing their values', async () => {
    const hash = `${'A'.repeat(43)}=`;
    const hashData = { keyIdHash: hash, keyIdSuffix: 'AAAA', keySecretHash: hash, keySecret: 'in plain text' };
    const finished = await at.apply({ organizations: [{ name: 'Acme', keys: [{ hashData }] }] });
    expect(finished.code).toBe(2);
    expect(listErrors(finished)).toEqual([
      expect.stringMatching(/^organizations\[0\]\.keys\[0\]\.hashData\.keySecret: Unknown member/),
    ]);
    expect(finished.stderr).not.toContain('in plain text');
  });

  it('S2: rejects a tier that does not fit the existing services', async () => {
    const organization = { id: acme.id, name: 'Acme', tier: 'SCALE' };
    const services = [{ id: acme.primary, name: 'analytics', numReplicas: 3 }];
    expect((await at.apply({ organizations: [{ ...organization, services }] })).code).toBe(0);
    const finished = await at.apply({ organizations: [{ ...organization, tier: 'BASIC', services }] });
    expect([finished.code, listErrors(finished)]).toEqual([
      2,
      ['organizations[0].services[0].numReplicas: A service of a BASIC organization has exactly 1 replica <number:3>'],
    ]);
  });
});

describe('the program', () => {
  const at = useStore('libsql');

  it('creates the embedded store readable by its owner only', async () => {
    expect((await at.apply(fleet)).code).toBe(0);
    expect(statSync(join(at.directory, 'data', 'state.db')).mode & 0o077).toBe(0);
  });

  it('exits silently when the reader of its output closes the pipe', async () => {
    expect((await at.apply(fleet)).code).toBe(0);
    const command = `"$0" "$1" export --data "$2" | head -c 10`;
    const data = join(at.directory, 'data');
    const env = { PATH: process.env.PATH, ...withSecretsKey() };
    const { stderr } = spawnSync('sh', ['-c', command, process.execPath, PROGRAM, data], { encoding: 'utf8', env });
    expect(stderr).toBe('');
  });
});
