import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBackup } from '../../src/operations/backup/file-reader.ts';
import { listErrors } from '../support/cli.ts';
import { fleet } from '../support/fleet.ts';
import { createTarget, type Target } from '../support/restored.ts';
import { withSecretsKey } from '../support/secrets-key.ts';
import { onEachStore, PROGRAM, type StoreName } from '../support/server.ts';

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

const IN_PROCESS = { inProcess: true };

/** A backup of the test fleet, without an engine. */
async function createBackup(store: StoreName, applied: object = fleet, options = IN_PROCESS) {
  const source = await createTarget(store, options);
  const file = join(source.directory, 'all.backup');
  expect((await source.apply(applied)).code).toBe(0);
  const { code, stderr } = await source.run('backup', file);
  expect([code, stderr]).toEqual([0, '']);
  return { source, file };
}

const readAll = async (path: string): Promise<string> => {
  try {
    const backup = await openBackup(path, () => {});
    await backup.close();
    return 'valid';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a damaged backup', () => {
  let directory = '';
  let bytes = Buffer.alloc(0);
  let source: Target;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-damaged-'));
    const created = await createBackup('libsql');
    source = created.source;
    bytes = readFileSync(created.file);
  }, 120_000);

  afterAll(async () => {
    await source.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  const check = (content: Buffer) => {
    const path = join(directory, 'changed');
    writeFileSync(path, content);
    return readAll(path);
  };

  it('is rejected for a change of any byte of its start and end, and of every 131st between', async () => {
    expect(await check(bytes)).toBe('valid');
    for (let at = 0; at < bytes.length; at += at < 300 || at > bytes.length - 100 ? 1 : 131) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(await check(changed), `byte ${at}`).toMatch(/is damaged|is not a backup|has backup format/);
    }
  }, 300_000);

  it('is rejected for a missing end of any length, for data after its end, and for a missing middle', async () => {
    for (let length = 0; length < bytes.length; length += Math.max(1, Math.floor(bytes.length / 100)))
      expect(await check(bytes.subarray(0, length)), `length ${length}`).toMatch(/is damaged|is not a backup/);
    expect(await check(bytes.subarray(0, -1))).toMatch(/is damaged/);
    expect(await check(Buffer.concat([bytes, Buffer.from('\n')]))).toMatch(/data after its end/);
    const middle = bytes.indexOf('{"type":"table"', 5000);
    expect(
      await check(
        Buffer.concat([bytes.subarray(0, middle), bytes.subarray(bytes.indexOf('{"type":"table"', middle + 1))]),
      ),
    ).toMatch(/is damaged/);
  }, 300_000);

  it('other kinds of files are not backups', async () => {
    for (const content of ['', '\n', '{}\n', 'null\n', 'organizations: []\n', 'x'.repeat(3_000_000)])
      expect(await check(Buffer.from(content))).toMatch(/is not a backup made by pilothouse backup/);
    expect(await readAll(join(source.directory, 'data/state.db'))).toMatch(/is not a backup/);
    const [header = ''] = bytes.toString('latin1').split('\n', 1);
    expect(await check(Buffer.from(`${header.replace('"format":1', '"format":2')}\n`))).toMatch(/has backup format 2/);
  });

  it('a newer version is named', async () => {
    const target = await createTarget('libsql', IN_PROCESS);
    try {
      const text = bytes
        .toString('latin1')
        .replace('"engineMigrations":[', '"engineMigrations":[{"version":9999,"name":"9999-future","checksum":"x"}');
      const body = Buffer.from(text, 'latin1').subarray(0, text.lastIndexOf('{"type":"end"'));
      const sha256 = createHash('sha256').update(body).digest('hex');
      const path = join(directory, 'newer');
      writeFileSync(path, Buffer.concat([body, Buffer.from(`${JSON.stringify({ type: 'end', sha256 })}\n`)]));
      const finished = await target.run('restore', path);
      expect([finished.code, listErrors(finished)]).toEqual([
        1,
        [expect.stringMatching(/migrations differ from those of this version: 9999-future is not known here/)],
      ]);
    } finally {
      await target.remove();
    }
  });
});

onEachStore('restoring a damaged backup', (store) => {
  it('changes nothing, even with --force', { timeout: 300_000 }, async () => {
    const { source, file } = await createBackup(store);
    // The connections of one process do not notice that a libSQL file was replaced.
    const target = await createTarget(store, { inProcess: store === 'postgres' });
    try {
      const changed = readFileSync(file);
      const at = changed.length - 5000;
      changed[at] = (changed[at] ?? 0) ^ 1;
      const path = join(target.directory, 'changed');
      writeFileSync(path, changed);
      await target.apply({ organizations: [{ name: 'Kept' }] });
      const before = (await target.run('export')).stdout;
      const finished = await target.run('restore', path, '--force');
      expect([finished.code, listErrors(finished)]).toEqual([
        1,
        [expect.stringMatching(/is damaged: .* Nothing was changed/)],
      ]);
      expect((await target.run('export')).stdout).toBe(before);

      const rejected = await target.run('restore', file);
      expect([rejected.code, listErrors(rejected)]).toEqual([
        1,
        ['The store is not empty; replace everything in it with --force'],
      ]);
      expect((await target.run('restore', file, '--force')).code).toBe(0);
      expect((await target.run('export')).stdout).toBe((await source.run('export')).stdout);
    } finally {
      await source.remove();
      await target.remove();
    }
  });
});

describe.skipIf(!hasPrlimit)('a full disk', () => {
  it('fails the backup with the reason and leaves no file', { timeout: 120_000 }, async () => {
    // Random names, which cannot be compressed: the file is larger than the limit, and the files of the store are not.
    const dashboards = Array.from({ length: 200 }, () => ({ name: randomBytes(700).toString('base64') }));
    const large = { organizations: [{ name: 'Acme', dashboards }] };
    const { source } = await createBackup('libsql', large, { inProcess: false });
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-full-'));
    try {
      const { status, stderr } = spawnSync(
        'prlimit',
        ['--fsize=65536:', process.execPath, PROGRAM, 'backup', join(directory, 'file'), ...source.args],
        { encoding: 'utf8', env: { PATH: process.env.PATH, ...withSecretsKey() } },
      );
      expect([status, stderr]).toEqual([1, `error: ${join(directory, 'file')} cannot be written: the disk is full\n`]);
      expect(readdirSync(directory)).toEqual([]);
    } finally {
      await source.remove();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
