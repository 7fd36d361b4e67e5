import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBackupWriter } from '../../src/operations/backup/file-writer.ts';
import { FORMAT } from '../../src/operations/backup/format.ts';
import { listEngineMigrations } from '../../src/platform/engine/own-tables.ts';
import { listMigrations } from '../../src/platform/state/contents.ts';
import { acme, fleet } from '../support/fleet.ts';
import { createTarget, serveQuietly } from '../support/restored.ts';
import { onEachStore } from '../support/server.ts';

const activity = {
  type: 'key_create',
  actor: { type: 'system', id: 'old', details: 'an older version' },
  resource: { type: 'key', id: 'the-key' },
  organizationId: acme.id,
};

/** A file of a version that had only the first six migrations of the store and one of the engine. */
async function writeOlderBackup(path: string): Promise<void> {
  const writer = await openBackupWriter(path, { force: false });
  const pick = (count: number, all: ReturnType<typeof listMigrations>) =>
    all.slice(0, count).map(({ version, name, checksum }) => ({ version, name, checksum }));
  await writer.writeLine({
    type: 'pilothouse-backup',
    format: FORMAT,
    version: '0.0.1',
    createdAt: '2026-01-01T00:00:00.000Z',
    store: 'libsql',
    stateMigrations: pick(6, listMigrations()),
    engineMigrations: pick(1, listEngineMigrations()),
  });
  const write = async (name: string, row: Record<string, string | number>) => {
    await writer.writeLine({ type: 'table', part: 'state', name, columns: Object.keys(row) });
    await writer.writeRows(1, Buffer.from(`${JSON.stringify(Object.values(row))}\n`));
  };
  const counts = { key_count: 0, cost_revision: 1, dashboard_revision: 1 };
  await write('organizations', { id: acme.id, name: 'Acme', tier: 'SCALE', paid: 1, created_at: 0, ...counts });
  const id = '0190a000-0000-7000-8000-000000000001';
  const document = JSON.stringify({ ...activity, id, createdAt: '2026-01-01T00:00:00.000Z' });
  await write('activities', { organization_id: acme.id, id, created_at: 1_767_225_600_000, document });
  await writer.writeLine({
    type: 'table',
    part: 'engine',
    name: 'otel_logs',
    columns: ['OrganizationId', 'Timestamp', 'Body', 'LogAttributes'],
  });
  const seconds = Math.floor(Date.now() / 1000) - 60;
  await writer.writeRows(1, Buffer.from(`${acme.id}\t${seconds}.123456789\tfrom before\\tand after\t{'a':'b'}\n`));
  await writer.finish();
}

onEachStore('a backup of an older version', (store) => {
  it('is restored with its own migrations and then migrated', { timeout: 300_000 }, async () => {
    const target = await createTarget(store);
    try {
      const file = join(target.directory, 'older.backup');
      await writeOlderBackup(file);
      const { code, stderr } = await target.run('restore', file);
      expect([code, stderr]).toEqual([0, '']);
      expect((await target.apply(fleet)).code).toBe(0);
      const server = await serveQuietly(target.args);
      try {
        const path = `/v1/organizations/${acme.id}/activities?type=key_create&resource_id=the-key`;
        const { json } = await server.call({ path, key: acme.admin });
        expect(json.result).toHaveLength(1);
        const series = await server.call({
          method: 'POST',
          path: '/api/v2/charts/tile',
          token: acme.token,
          body: {
            start: Date.now() - 3_600_000,
            end: Date.now(),
            series: [{ type: 'search', fields: ['Timestamp', 'Body', 'LogAttributes'] }],
          },
        });
        expect(series.status, series.text).toBe(200);
        expect(series.text).toContain('from before\\tand after');
        expect(series.text).toContain('.123456789');
      } finally {
        await server.stop();
      }
    } finally {
      await target.remove();
    }
  });
});
