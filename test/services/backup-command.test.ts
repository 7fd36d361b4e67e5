import { expect, it, vi } from 'vitest';
import { cli } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStore, useServer } from '../support/server.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

onEachStore('pilothouse service backup', (store) => {
  const server = useServer(store, { args: ['--endpoint-ports', '0'] });
  const services = useServices(server);
  const run = (...args: string[]) =>
    cli(['service', ...args, '--url', server.url], {
      PILOTHOUSE_KEY: `${acme.admin.keyId}:${acme.admin.keySecret}`,
    });

  it('makes, lists and verifies backups, and service create restores them', async () => {
    const { id, query } = await services.create({ name: 'events' });
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await query('INSERT INTO t SELECT number FROM numbers(500)');
    const created = await run('backup', 'create', 'events');
    expect([created.code, created.stderr]).toEqual([0, expect.stringContaining('Backed up events: full')]);
    const backupId = created.stdout.trim();
    const verified = await run('backup', 'verify', 'events', backupId);
    expect([verified.code, verified.stdout.trim()]).toEqual([
      0,
      'The backup can be restored: 1 tables with 500 rows have the expected checksums.',
    ]);
    const listed = await run('backup', 'list', id, '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { id: backupId, status: 'done', verification: { status: 'done', rows: 500 } },
    ]);
    expect((await run('backup', 'list', 'events')).stdout).toContain(backupId);
    const restored = await run('create', '--name', 'copy', '--backup', backupId, '--json');
    expect(JSON.parse(restored.stdout)).toMatchObject({ service: { driver: 'embedded', name: 'copy' } });
  });

  it('says what is wrong', async () => {
    expect((await run('backup', 'verify', acme.primary)).code).toBe(2);
    const simulated = await run('backup', 'create', acme.primary);
    expect([simulated.code, simulated.stderr]).toEqual([1, expect.stringContaining('has no data to back up')]);
  });
});
