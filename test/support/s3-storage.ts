import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newUuid } from '../../src/kernel/ids.ts';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { createS3Storage } from '../../src/running/backups/storage/s3.ts';
import type { Storage } from '../../src/running/backups/storage/storage.ts';
import { BUCKET, KEY, type StartS3, useS3 } from './s3-server.ts';
import { until } from './until.ts';

const SIGNAL = new AbortController().signal;
const NEVER = (): undefined => undefined;

/** What must hold for each S3 server. */
export function testS3Storage(start?: StartS3): ReturnType<typeof useS3> {
  const s3 = useS3(start);
  let folder: string;
  const createStorage = (changes: object = {}): Storage =>
    createS3Storage(
      {
        bucket: BUCKET,
        prefix: 'some/prefix/',
        endpoint: s3.endpoint,
        region: 'us-east-1',
        credentialsFile: s3.credentialsFile,
        sqlCredentialsFile: s3.credentialsFile,
        timeoutMs: 30_000,
        ...changes,
      },
      systemClock,
    );

  const contents: Record<string, string> = {
    '.backup': '<config></config>',
    'data/default/t%2E1/all_1_1_0/data.bin': 'data'.repeat(10_000),
    'data/default/t%2E1/all_1_1_0/empty.txt': '',
    'data/default/ü x/count.txt': '7',
    'metadata/default.sql': 'ATTACH DATABASE',
  };

  /** As ClickHouse has written them. */
  function writeFiles(files: Record<string, string | Buffer> = contents): string {
    const from = mkdtempSync(join(folder, 'written-'));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(from, path)), { recursive: true });
      writeFileSync(join(from, path), content);
    }
    return from;
  }

  const newBackup = () => ({ id: newUuid(), serviceId: newUuid() });
  const getPrefix = ({ id, serviceId }: { id: string; serviceId: string }) => `some/prefix/${serviceId}/${id}/`;
  const isPut = (request: string) => request.startsWith('PUT ');
  const copy = async (storage: Storage, backup: { id: string; serviceId: string }): Promise<string> => {
    const to = join(folder, newUuid());
    await storage.copy(backup, to, { signal: SIGNAL });
    return to;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-storage-'));
    s3.requests.length = 0;
    s3.fail = NEVER;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('adopts what ClickHouse has written, after a check of its sizes', async () => {
    const backup = newBackup();
    const prefix = `${getPrefix(backup)}files/`;
    const storage = createStorage();
    const adopt = async () => storage.sql?.adopt(backup, SIGNAL);
    await expect(adopt()).rejects.toThrow('its list of files is not complete');
    const list = `<config><contents>${[
      '<file><name>a b.txt</name><size>3</size></file>',
      '<file><name>longer.txt</name><size>10</size><use_base>true</use_base><base_size>6</base_size></file>',
      '<file><name>in-base.txt</name><size>10</size><use_base>true</use_base></file>',
      '<file><name>same.txt</name><size>3</size><data_file>a b.txt</data_file></file>',
      '<file><name>empty.txt</name><size>0</size></file>',
    ].join('')}</contents></config>`;
    await s3.write(`${prefix}.backup`, Buffer.from(list));
    await s3.write(`${prefix}a b.txt`, Buffer.from('abc'));
    await expect(adopt()).rejects.toThrow('the file longer.txt is missing');
    await s3.write(`${prefix}longer.txt`, Buffer.from('all of it!'));
    await expect(adopt()).rejects.toThrow('the file longer.txt has 10 bytes instead of 4');
    await s3.write(`${prefix}longer.txt`, Buffer.from(' it!'));
    expect(await adopt()).toMatchObject({ bytes: list.length + 3 + 4, files: { length: 3 } });
    const to = await copy(storage, backup);
    expect(readFileSync(join(to, 'a b.txt'), 'utf8')).toBe('abc');
    await s3.write(`${prefix}longer.txt`, Buffer.from('cut'));
    await expect(copy(storage, backup)).rejects.toThrow('has 3 bytes instead of 4');
    await storage.remove(backup, SIGNAL);
  });

  it('stores the files of a backup, gives them back, and removes them', async () => {
    const storage = createStorage();
    const backup = newBackup();
    const from = writeFiles();
    expect(await storage.findObstacle(SIGNAL)).toBeUndefined();
    const manifest = await storage.add(backup, from, SIGNAL);
    expect(manifest.files.map(({ path }) => path).sort()).toEqual(Object.keys(contents).sort());
    expect(readdirSync(dirname(from))).toEqual([]);
    expect(s3.requests.filter(isPut).at(-1)).toContain('/manifest.json');
    expect(await storage.readList(backup, SIGNAL)).toBe(contents['.backup']);
    expect(await storage.readList(newBackup(), SIGNAL)).toBeUndefined();
    const to = await copy(storage, backup);
    for (const [path, content] of Object.entries(contents)) expect(readFileSync(join(to, path), 'utf8')).toBe(content);
    const other = newBackup();
    await storage.add(other, writeFiles(), SIGNAL);
    await storage.remove(backup, SIGNAL);
    expect(await s3.listKeys(getPrefix(backup))).toEqual([]);
    expect(await s3.listKeys(getPrefix(other))).toHaveLength(6);
  });

  it('continues after an interruption, and sends nothing twice', async () => {
    const backup = newBackup();
    const from = writeFiles();
    const process = new AbortController();
    s3.fail = (request) => (isPut(request) && request.includes('count.txt') ? 'hang' : undefined);
    const stopped = expect(createStorage().add(backup, from, process.signal)).rejects.toThrow();
    const sent = await until(
      () => s3.listKeys(getPrefix(backup)),
      (keys) => keys.length === 4,
      'the other files are not sent',
    );
    process.abort();
    await stopped;
    await expect(copy(createStorage(), backup)).rejects.toThrow('manifest.json is missing');

    s3.fail = NEVER;
    s3.requests.length = 0;
    await createStorage().add(backup, from, SIGNAL);
    expect(s3.requests.filter(isPut)).toHaveLength(6 - sent.length);
    await copy(createStorage(), backup);
    // A file that is there with other contents is sent again.
    const again = newBackup();
    await s3.write(`${getPrefix(again)}files/metadata/default.sql`, Buffer.from('attach database'));
    await createStorage().add(again, writeFiles(), SIGNAL);
    await copy(createStorage(), again);
  });

  it('is complete once its manifest is stored, although files that were written are removed', async () => {
    const storage = createStorage();
    const backup = newBackup();
    const manifest = await storage.add(backup, writeFiles(), SIGNAL);
    s3.requests.length = 0;
    // A process that was killed has removed some of the files, or all of them.
    const partial = writeFiles({ '.backup': contents['.backup'] ?? '' });
    for (const from of [partial, join(folder, 'removed')]) {
      expect(await storage.add(backup, from, SIGNAL)).toEqual(manifest);
      expect(existsSync(from)).toBe(false);
    }
    expect(s3.requests.filter(isPut)).toEqual([]);
    await copy(storage, backup);
  });

  it('repeats requests that fail for a moment', async () => {
    const failed = new Set<string>();
    s3.fail = (request) => {
      if (failed.has(request)) return undefined;
      failed.add(request);
      return failed.size % 2 === 0 ? 'lost' : 'broken';
    };
    const backup = newBackup();
    await createStorage().add(backup, writeFiles(), SIGNAL);
    failed.clear();
    await copy(createStorage(), backup);
    failed.clear();
    await createStorage().remove(backup, SIGNAL);
    expect(await s3.listKeys(getPrefix(backup))).toEqual([]);
  });

  it.each([
    ['forbidden', 'responded with status 403 AccessDenied', 1],
    ['broken', 'responded with status 500 InternalError', 4],
    ['lost', 'cannot be reached: ', 4],
    ['hang', 'did not respond within 1 s', 4],
  ] as const)('gives up with a reason if the storage is %s', async (fault, reason, attempts) => {
    // A busy machine may take long for requests that do not hang.
    const storage = createStorage({ ...(fault === 'hang' && { timeoutMs: 1000 }) });
    const backup = newBackup();
    s3.fail = () => fault;
    const error: Error = await storage.add(backup, writeFiles(), SIGNAL).then(
      () => expect.fail('the backup was stored'),
      (failure) => failure,
    );
    expect(error.message).toContain(`s3://${BUCKET}/some/prefix/ ${reason}`);
    expect(error.message).not.toContain(KEY.secret);
    expect(s3.requests.length).toBeLessThanOrEqual(attempts);
    if (fault !== 'hang') expect(s3.requests).toHaveLength(attempts);
  });

  it('never takes a failure for a missing backup', async () => {
    const storage = createStorage();
    const backup = newBackup();
    s3.fail = () => 'forbidden';
    await expect(copy(storage, backup)).rejects.toThrow('responded with status 403');
    await expect(storage.readList(backup, SIGNAL)).rejects.toThrow('responded with status 403');
    await expect(storage.remove(backup, SIGNAL)).rejects.toThrow('responded with status 403');
    expect(await storage.findObstacle(SIGNAL)).toContain('responded with status 403 AccessDenied');
  });

  it('finds objects that are damaged, missing or longer', async () => {
    const storage = createStorage();
    const backup = newBackup();
    await storage.add(backup, writeFiles(), SIGNAL);
    const key = (await s3.listKeys(getPrefix(backup))).find((name) => name.endsWith('data.bin')) ?? '';
    const content = await s3.read(key);
    await s3.write(key, content.with(5, 0));
    await expect(copy(storage, backup)).rejects.toThrow('differs from its checksum');
    await s3.write(key, Buffer.concat([content, content]));
    await expect(copy(storage, backup)).rejects.toThrow('has 80000 bytes instead of 40000');
    const manifestKey = `${getPrefix(backup)}manifest.json`;
    const manifest = JSON.parse((await s3.read(manifestKey)).toString());
    const [file] = manifest.files;
    for (const text of [
      '{',
      'null',
      JSON.stringify({ ...manifest, id: newUuid() }),
      ...['../x', '/x', 'a/../../x', 'a//x', ''].map((path) =>
        JSON.stringify({ ...manifest, files: [{ ...file, path }] }),
      ),
    ]) {
      await s3.write(manifestKey, Buffer.from(text));
      await expect(copy(storage, backup)).rejects.toThrow('manifest.json is not valid');
    }
  });

  it('says what is wrong with the settings', async () => {
    const find = (changes: object) => createStorage(changes).findObstacle(SIGNAL);
    expect(await find({ bucket: 'no-such-bucket' })).toContain('responded with status 404 NoSuchBucket');
    expect(await find({ credentialsFile: join(folder, 'none') })).toContain('cannot be read from');
    writeFileSync(join(folder, 'empty'), '[default]\n');
    expect(await find({ credentialsFile: join(folder, 'empty') })).toContain('must contain aws_access_key_id');
    expect(await find({ endpoint: 'http://127.0.0.1:1' })).toContain('cannot be reached: ECONNREFUSED');
  });

  return s3;
}
