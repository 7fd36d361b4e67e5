import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readMigrations } from '../../../kernel/migration.ts';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openBackend, openEngine } from '../open.ts';
import { applyMigrations } from './migrate.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const options = { dataDirectory: directory, clock: systemClock, log: { debug() {}, info() {}, warn() {} } };

const NOTES = `CREATE TABLE IF NOT EXISTS pilothouse.notes (Id String, Document String) ENGINE = MergeTree ORDER BY Id;
`;
const TITLES = `ALTER TABLE pilothouse.notes ADD COLUMN IF NOT EXISTS Title String DEFAULT JSONExtractString(Document, 'title');
`;

it('an engine with older tables is migrated with its rows; one of a version before 0.1.0 is rejected', {
  timeout: 300_000,
}, async () => {
  const addFile = (name: string, text: string) => writeFileSync(join(directory, `${name}.sql`), text);
  const backend = openBackend(options);
  try {
    const { writer } = await backend.connect();
    const upgrade = () => applyMigrations({ writer }, readMigrations(directory), AbortSignal.timeout(60_000));
    addFile('0001-notes', NOTES);
    expect(await upgrade()).toEqual(['0001-notes']);
    const values = [{ Id: 'a', Document: '{"title":"first"}' }];
    await writer.insert({ table: 'pilothouse.notes', values, format: 'JSONEachRow' });
    addFile('0002-titles', TITLES);
    expect(await upgrade()).toEqual(['0002-titles']);
    const result = await writer.query({ query: 'SELECT Id, Title FROM pilothouse.notes', format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ Id: 'a', Title: 'first' }]);
    expect(await upgrade()).toEqual([]);
  } finally {
    await backend.close();
  }
  const engine = openEngine(options);
  try {
    await expect(engine.start()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /^The engine was created by a version before 0\.1\.0 \(it has migration 0001-notes\)/,
      ),
    });
  } finally {
    await engine.close();
  }
});
