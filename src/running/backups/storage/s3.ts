import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { forEachParallel } from '../../../kernel/tasks/parallel.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { explainSize, listWritten } from './file-list.ts';
import {
  checkContents,
  copyFiles,
  createManifest,
  damaged,
  type HashedFile,
  type Manifest,
  type ManifestFile,
  parseManifest,
  readChunks,
  toManifest,
} from './manifest.ts';
import { createS3Objects } from './s3-objects.ts';
import { PART_BYTES, readCredentials, type S3Address } from './s3-requests.ts';
import { formatTarget, formatUrl } from './s3-target.ts';
import { getStoredPath, NAMES, type SqlStorage, type Storage, type StoredBackup } from './storage.ts';

/** S3 allows 10,000. */
const MAX_PARTS = 9000;
/** The checksum that S3 checks, too. */
const CHECKSUM = 'sha256';
type File = HashedFile<typeof CHECKSUM>;

/** Of requests. Each one has up to two parts in memory. */
const PARALLEL = 4;

/** Of a manifest and of ClickHouse's list of files, which are read into memory: about a million files. */
const MAX_LIST_BYTES = 256 * 2 ** 20;

/** More only for files of more than `MAX_PARTS` parts. */
const getPartBytes = (bytes: number): number => Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS));
const digest = (content: Uint8Array): Buffer => createHash('sha256').update(content).digest();

/** Backups in S3-compatible storage: objects with the paths of the backup directory. The manifest is written last. */
export function createS3Storage(address: S3Address, clock: Clock): Storage {
  const { sqlCredentialsFile } = address;
  const objects = createS3Objects(address, clock);
  const getPrefix = (backup: StoredBackup): string => `${address.prefix}${getStoredPath(backup)}/`;
  const getKey = (backup: StoredBackup, path: string): string => `${getPrefix(backup)}${NAMES.files}/${path}`;

  /** Reads `bytes` bytes. A different size of the object is an error. */
  async function* readObject(backup: StoredBackup, key: string, bytes: number, signal: AbortSignal) {
    for (let start = 0; start < bytes; start += PART_BYTES) {
      const read = await objects.read(key, { start, end: Math.min(bytes, start + PART_BYTES) }, signal);
      if (!read) throw damaged(backup.id, `${key} is missing`);
      if (read.bytes !== bytes) throw damaged(backup.id, `${key} has ${read.bytes} bytes instead of ${bytes}`);
      yield read.content;
    }
  }

  /** Undefined if it is missing. */
  async function readAll(backup: StoredBackup, key: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const found = await objects.find(key, signal);
    if (!found) return undefined;
    if (found.bytes > MAX_LIST_BYTES) throw damaged(backup.id, `${key} has more than ${MAX_LIST_BYTES} bytes`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of readObject(backup, key, found.bytes, signal)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async function readManifest(backup: StoredBackup, signal: AbortSignal): Promise<Manifest> {
    const key = `${getPrefix(backup)}${NAMES.manifest}`;
    const content = await readAll(backup, key, signal);
    if (!content) throw damaged(backup.id, `${key} is missing`);
    return parseManifest(backup.id, content.toString('utf8'), key);
  }

  async function upload(backup: StoredBackup, path: string, file: File, signal: AbortSignal): Promise<void> {
    const key = getKey(backup, file.path);
    const { bytes, sha256 } = file;
    if (bytes <= PART_BYTES) {
      const chunks: Buffer[] = [];
      await checkContents(backup.id, file, readChunks(path, bytes + 1), signal, async (chunk) => {
        chunks.push(Buffer.from(chunk));
      });
      await put(key, Buffer.concat(chunks), sha256, signal);
      return;
    }
    const parts = async function* () {
      const hash = createHash('sha256');
      let number = 0;
      for await (const content of readChunks(path, getPartBytes(bytes))) {
        hash.update(content);
        yield { number: ++number, content, checksum: digest(content).toString('base64') };
      }
      if (hash.digest('hex') !== sha256) throw damaged(backup.id, `the file ${file.path} was changed`);
    };
    await objects.putParts(key, sha256, parts(), signal);
  }

  const put = (key: string, content: Buffer, sha256: string, signal: AbortSignal): Promise<void> =>
    objects.put(key, content, { sha256, checksum: Buffer.from(sha256, 'hex').toString('base64') }, signal);

  const putManifest = (backup: StoredBackup, manifest: Manifest, signal: AbortSignal): Promise<void> => {
    const content = Buffer.from(JSON.stringify(manifest));
    return put(`${getPrefix(backup)}${NAMES.manifest}`, content, digest(content).toString('hex'), signal);
  };

  /** Uploads a file unless it is there, and checks what is there: by the checksum of the storage, or by reading it. */
  async function store(backup: StoredBackup, from: string, file: File, isNew: boolean, signal: AbortSignal) {
    const key = getKey(backup, file.path);
    const path = join(from, file.path);
    let found = isNew ? undefined : await objects.find(key, signal);
    if (found?.bytes !== file.bytes || found.sha256 !== file.sha256) {
      await upload(backup, path, file, signal);
      found = await objects.find(key, signal);
    }
    if (!found) throw damaged(backup.id, `${key} is missing`);
    if (found.bytes !== file.bytes)
      throw damaged(backup.id, `${key} has ${found.bytes} bytes instead of ${file.bytes}`);
    if (found.checksum !== undefined && found.checksum === (await computeChecksum(path, file))) return;
    await checkContents(backup.id, file, readObject(backup, key, file.bytes, signal), signal);
  }

  async function storeAll(
    backup: StoredBackup,
    from: string,
    stored: ReadonlyMap<string, number>,
    signal: AbortSignal,
  ): Promise<Manifest> {
    const manifest = await createManifest(from, backup, CHECKSUM, signal);
    await forEachParallel(manifest.files, PARALLEL, (file) =>
      store(backup, from, file, !stored.has(getKey(backup, file.path)), signal),
    );
    await putManifest(backup, manifest, signal);
    return manifest;
  }

  const copy: Storage['copy'] = async (backup, to, { signal, onBytes }) => {
    const manifest = await readManifest(backup, signal);
    const read = ({ path, bytes }: ManifestFile) => readObject(backup, getKey(backup, path), bytes, signal);
    await copyFiles(manifest, { to, read, parallel: PARALLEL, signal, onBytes });
  };

  const createSql = (path: string): SqlStorage => ({
    async formatTarget(backup) {
      const url = formatUrl(address, `${getPrefix(backup)}${NAMES.files}`);
      return formatTarget(objects.location, url, await readCredentials(path));
    },

    async adopt(backup, signal) {
      const list = await readAll(backup, getKey(backup, NAMES.list), signal);
      const written = list && listWritten(list.toString('utf8'));
      if (!written) throw damaged(backup.id, 'its list of files is not complete');
      const stored = await objects.list(getKey(backup, ''), signal);
      const files = [{ path: NAMES.list, bytes: list.length }];
      for (const [path, bytes] of written) {
        const reason = explainSize(path, stored.get(getKey(backup, path)), bytes);
        if (reason !== undefined) throw damaged(backup.id, reason);
        files.push({ path, bytes });
      }
      const manifest = toManifest(backup, files);
      await putManifest(backup, manifest, signal);
      return manifest;
    },
  });

  return {
    location: objects.location,

    async add(backup, from, signal) {
      const prefix = getPrefix(backup);
      await objects.abortUploads(prefix, signal);
      const stored = await objects.list(prefix, signal);
      // It is written last: an attempt that was interrupted later may have removed files of `from`.
      const isComplete = stored.has(`${prefix}${NAMES.manifest}`);
      const manifest = isComplete ? await readManifest(backup, signal) : await storeAll(backup, from, stored, signal);
      await rm(from, { recursive: true, force: true });
      return manifest;
    },

    copy,

    async provide(backup, to, options) {
      await copy(backup, to, options);
      return async () => {};
    },

    readList: async (backup, signal) => (await readAll(backup, getKey(backup, NAMES.list), signal))?.toString('utf8'),

    async remove(backup, signal) {
      const prefix = getPrefix(backup);
      await objects.abortUploads(prefix, signal);
      // What is removed only in part must not look complete.
      await objects.remove(`${prefix}${NAMES.manifest}`, signal);
      const keys = [...(await objects.list(prefix, signal)).keys()];
      await forEachParallel(keys, PARALLEL, (key) => objects.remove(key, signal));
    },

    ...(sqlCredentialsFile !== undefined && { sql: createSql(sqlCredentialsFile) }),

    findObstacle: (signal) =>
      objects.list(address.prefix, signal, 1).then(
        () => undefined,
        (error: Error) => error.message,
      ),
  };
}

/** As S3 computes it: of an object in parts, the SHA-256 of those of its parts. */
async function computeChecksum(path: string, { bytes, sha256 }: File): Promise<string> {
  if (bytes <= PART_BYTES) return Buffer.from(sha256, 'hex').toString('base64');
  const digests: Buffer[] = [];
  for await (const part of readChunks(path, getPartBytes(bytes))) digests.push(digest(part));
  return `${digest(Buffer.concat(digests)).toString('base64')}-${digests.length}`;
}
