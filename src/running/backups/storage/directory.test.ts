import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newUuid } from '../../../kernel/ids.ts';
import { createBackupDirectory } from './directory.ts';
import { readChunks } from './manifest.ts';

const signal = new AbortController().signal;
const DATA = 'data/default/t/all_1_1_0/data.bin';
const CONTENTS: Record<string, string> = {
  '.backup': '<config></config>',
  [DATA]: 'data'.repeat(10_000),
  'data/default/t/all_1_1_0/empty.txt': '',
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-directory-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const newBackup = () => ({ id: newUuid(), serviceId: newUuid() });
const toHex = (text: string): string => crc32(text).toString(16).padStart(8, '0');

/** Stores the files as a backup. */
async function store() {
  const written = join(folder, newUuid());
  for (const [path, content] of Object.entries(CONTENTS)) {
    mkdirSync(dirname(join(written, path)), { recursive: true });
    writeFileSync(join(written, path), content);
  }
  const storage = createBackupDirectory(join(folder, 'backups'));
  const backup = newBackup();
  const manifest = await storage.add(backup, written, signal);
  const stored = join(folder, 'backups', backup.serviceId, backup.id);
  return {
    storage,
    backup,
    manifest,
    getStoredPath: (path: string) => join(stored, 'files', path),
    changeManifest(change: (file: Record<string, unknown>) => object) {
      const path = join(stored, 'manifest.json');
      const { files, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
      writeFileSync(path, JSON.stringify({ ...rest, files: files.map(change) }));
    },
  };
}

describe('a backup in a directory', () => {
  it('has the CRC-32 of each file in its manifest', async () => {
    const { manifest } = await store();
    const found = Object.fromEntries(manifest.files.map(({ path, ...rest }) => [path, rest]));
    for (const [path, content] of Object.entries(CONTENTS))
      expect(found[path]).toEqual({ bytes: content.length, crc32: toHex(content) });
  });

  it('is given to a restore without copying its data, and checked', async () => {
    const { storage, backup, getStoredPath } = await store();
    const to = join(folder, 'restore');
    let bytes = 0;
    const check = await storage.provide(backup, to, {
      signal,
      onBytes: (more) => {
        bytes += more;
      },
    });
    for (const [path, content] of Object.entries(CONTENTS)) expect(readFileSync(join(to, path), 'utf8')).toBe(content);
    expect(bytes).toBe(Object.values(CONTENTS).join('').length);
    const isShared = (path: string) => statSync(join(to, path)).ino === statSync(getStoredPath(path)).ino;
    expect(isShared(DATA)).toBe(true);
    // ClickHouse's list is changed for some restores.
    expect(isShared('.backup')).toBe(false);
    await check();
    rmSync(to, { recursive: true });
    await storage.copy(backup, join(folder, 'copy'), { signal });
  });

  it('is copied if its files cannot be linked', async () => {
    const { storage, backup } = await store();
    // On another file system, if this machine has one.
    const to = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : folder, 'pilothouse-restore-'));
    try {
      const check = await storage.provide(backup, join(to, 'files'), { signal });
      for (const [path, content] of Object.entries(CONTENTS))
        expect(readFileSync(join(to, 'files', path), 'utf8')).toBe(content);
      await check();
    } finally {
      rmSync(to, { recursive: true });
    }
  });

  it('that is damaged is found while it is restored, and while it is copied', async () => {
    const { storage, backup, getStoredPath } = await store();
    const content = readFileSync(getStoredPath(DATA));
    content[5] = 0;
    writeFileSync(getStoredPath(DATA), content);
    const check = await storage.provide(backup, join(folder, 'restore'), { signal });
    await expect(check()).rejects.toThrow(`the file ${DATA} differs from its checksum`);
    await expect(storage.copy(backup, join(folder, 'copy'), { signal })).rejects.toThrow('differs from its checksum');
    writeFileSync(getStoredPath(DATA), content.subarray(1));
    const shorter = await storage.provide(backup, join(folder, 'shorter'), { signal });
    await expect(shorter()).rejects.toThrow(`the file ${DATA} has 39999 bytes instead of 40000`);
    rmSync(getStoredPath(DATA));
    writeFileSync(join(folder, 'elsewhere'), CONTENTS[DATA] ?? '');
    symlinkSync(join(folder, 'elsewhere'), getStoredPath(DATA));
    await expect(storage.provide(backup, join(folder, 'link'), { signal })).rejects.toThrow(`${DATA} is not a file`);
    rmSync(getStoredPath(DATA));
    await expect(storage.provide(backup, join(folder, 'missing'), { signal })).rejects.toThrow(
      `the file ${DATA} is missing`,
    );
  });

  it('of an earlier version has the SHA-256 of each file', async () => {
    const { storage, backup, getStoredPath, changeManifest } = await store();
    changeManifest(({ crc32: _, ...file }) => {
      const content = CONTENTS[String(file.path)] ?? '';
      return { ...file, sha256: createHash('sha256').update(content).digest('hex') };
    });
    const check = await storage.provide(backup, join(folder, 'restore'), { signal });
    await check();
    writeFileSync(getStoredPath(DATA), 'DATA'.repeat(10_000));
    await expect(check()).rejects.toThrow('differs from its checksum');
  });

  it.each(['', 'x', '0123456', '0123456789', 'ABCDEF01'])('with the checksum %j is not valid', async (checksum) => {
    const { storage, backup, changeManifest } = await store();
    changeManifest((file) => ({ ...file, crc32: checksum }));
    await expect(storage.provide(backup, join(folder, 'restore'), { signal })).rejects.toThrow('is not valid');
  });
});

describe('the chunks of a file', () => {
  it.each([0, 1, 999, 1000, 1001, 2000, 5500])('are those of its contents, with %i bytes', async (bytes) => {
    const path = join(folder, 'file');
    const content = randomBytes(bytes);
    writeFileSync(path, content);
    const chunks: Buffer[] = [];
    for await (const chunk of readChunks(path, 1000)) chunks.push(Buffer.from(chunk));
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    expect(chunks.map(({ length }) => length).slice(0, -1)).toEqual(Array(Math.max(0, chunks.length - 1)).fill(1000));
  });

  it('are no longer read when the reader leaves', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, randomBytes(10_000));
    for await (const chunk of readChunks(path, 1000)) {
      expect(chunk).toHaveLength(1000);
      break;
    }
  });
});
