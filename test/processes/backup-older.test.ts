import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listMigrations } from '../../src/kernel/migration.ts';
import { openBackup } from '../../src/operations/backup/file-reader.ts';
import { openBackupWriter } from '../../src/operations/backup/file-writer.ts';
import { FORMAT } from '../../src/operations/backup/format.ts';
import { acme } from '../support/fleet.ts';
import { copyProgram } from '../support/migrations.ts';
import { spawnProgram } from '../support/process.ts';
import { createTarget } from '../support/restored.ts';
import { onEachStore } from '../support/server.ts';

const list = (part: 'state' | 'engine') =>
  listMigrations(part).map(({ version, name, checksum }) => ({ version, name, checksum }));

async function writeBackup(path: string, seconds: number): Promise<void> {
  const writer = await openBackupWriter(path, { force: false });
  await writer.writeLine({
    type: 'pilothouse-backup',
    format: FORMAT,
    version: '0.1.0',
    createdAt: '2026-01-01T00:00:00.000Z',
    store: 'libsql',
    stateMigrations: list('state'),
    engineMigrations: list('engine'),
  });
  const row = { id: acme.id, name: 'Acme', tier: 'SCALE', paid: 1, created_at: 0, key_count: 0, cost_revision: 1 };
  await writer.writeLine({ type: 'table', part: 'state', name: 'organizations', columns: Object.keys(row) });
  await writer.writeRows(1, Buffer.from(`${JSON.stringify(Object.values(row))}\n`));
  const columns = ['OrganizationId', 'Timestamp', 'Body', 'LogAttributes'];
  await writer.writeLine({ type: 'table', part: 'engine', name: 'otel_logs', columns });
  await writer.writeRows(1, Buffer.from(`${acme.id}\t${seconds}.123456789\tfrom before\\tand after\t{'a':'b'}\n`));
  await writer.finish();
}

/** The rows of a table in a file, as text: JSON of the state, tab-separated lines of the engine. */
async function readTable(path: string, name: string): Promise<string> {
  const backup = await openBackup(path, () => {});
  try {
    let text = '';
    for await (const { table, readContent } of backup.readChunks())
      if (table.name === name) text += (await readContent()).toString();
    return text;
  } finally {
    await backup.close();
  }
}

onEachStore('a backup of an older version', (store) => {
  it('is restored with its own migrations and then migrated', { timeout: 300_000 }, async () => {
    const newer = copyProgram(
      '0999-notes',
      `ALTER TABLE organizations ADD COLUMN note TEXT NOT NULL DEFAULT 'no note';
UPDATE organizations SET name = name || ', migrated';
`,
    );
    writeFileSync(
      join(newer.migrations, 'engine', '0999-notes.sql'),
      "ALTER TABLE pilothouse.otel_logs ADD COLUMN IF NOT EXISTS Note String DEFAULT concat(Body, ', migrated');\n",
    );
    const target = await createTarget(store);
    const run = async (...args: string[]) => {
      const program = spawnProgram([...args, ...target.args], { program: newer.main });
      expect([await program.ended, program.stderr()]).toEqual([0, '']);
    };
    try {
      const [older, copy] = ['older.backup', 'newer.backup'].map((name) => join(target.directory, name)) as [
        string,
        string,
      ];
      const seconds = Math.floor(Date.now() / 1000) - 60;
      await writeBackup(older, seconds);
      await run('restore', older);
      await run('backup', copy);
      const [organization, ...others] = (await readTable(copy, 'organizations')).trimEnd().split('\n');
      expect(JSON.parse(organization ?? '')).toEqual(expect.arrayContaining([acme.id, 'Acme, migrated', 'no note']));
      expect(others).toEqual([]);
      const logs = await readTable(copy, 'otel_logs');
      expect(logs).toContain(`${seconds}.123456789`);
      expect(logs).toContain('from before\\tand after, migrated');
    } finally {
      await target.remove();
      newer.remove();
    }
  });
});
