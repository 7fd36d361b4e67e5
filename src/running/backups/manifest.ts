import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { forEachParallel } from '../../kernel/tasks/parallel.ts';

export interface ManifestFile {
  /** Relative to the folder of the files, with `/`. */
  path: string;
  bytes: number;
  /** Undefined for a file that ClickHouse itself has written to the storage. */
  sha256?: string | undefined;
}

/** A file that was read. */
export type HashedFile = ManifestFile & Hashed;

/** What a backup consists of. */
export interface Manifest<File extends ManifestFile = ManifestFile> {
  version: 1;
  id: string;
  serviceId: string;
  baseId?: string | undefined;
  bytes: number;
  files: File[];
}

/** A manifest that was changed in the storage must not lead to files elsewhere. */
export function parseManifest(id: string, text: string, place: string): Manifest {
  try {
    const manifest: Manifest = JSON.parse(text);
    if (manifest.id === id && manifest.files.every(isValidFile)) return manifest;
  } catch {
    // As below.
  }
  throw damaged(id, `${place} is not valid`);
}

const isValidFile = ({ path, bytes, sha256 }: ManifestFile): boolean =>
  path.split('/').every((name) => !['', '.', '..'].includes(name) && !name.includes('\0')) &&
  Number.isSafeInteger(bytes) &&
  bytes >= 0 &&
  (sha256 === undefined || /^[0-9a-f]{64}$/.test(sha256));

const CHUNK_BYTES = 2 ** 20;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** All files below a folder, in the order of their names. Rejects links and other special files: they could lead elsewhere. */
export async function listFiles(folder: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await listFiles(folder, path)));
    else if (entry.isFile()) found.push(path);
    else throw new AppError('conflict', `${path} is neither a file nor a folder`);
  }
  return found;
}

/** Reads a file in chunks, which are valid until the next one is read. Rejects a link. */
export async function* readChunks(path: string, chunkBytes = CHUNK_BYTES): AsyncGenerator<Buffer> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW);
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      let filled = 0;
      for (let bytesRead = -1; bytesRead !== 0 && filled < chunkBytes; filled += bytesRead)
        ({ bytesRead } = await file.read(buffer, filled, chunkBytes - filled, null));
      if (filled > 0) yield buffer.subarray(0, filled);
      if (filled < chunkBytes) return;
    }
  } finally {
    await file.close();
  }
}

interface Hashed {
  bytes: number;
  sha256: string;
}

/** Gives all chunks to `write`. */
export async function hashChunks(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  write?: (chunk: Uint8Array) => Promise<void>,
): Promise<Hashed> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    // A thread of Node writes meanwhile.
    const written = write?.(chunk);
    hash.update(chunk);
    await written;
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

export async function createManifest(
  folder: string,
  { id, serviceId, baseId }: Pick<Manifest, 'id' | 'serviceId' | 'baseId'>,
  signal: AbortSignal,
): Promise<Manifest<HashedFile>> {
  const files: HashedFile[] = [];
  for (const path of await listFiles(folder))
    files.push({ path, ...(await hashChunks(readChunks(join(folder, path)), signal)) });
  return toManifest({ id, serviceId, baseId }, files);
}

export function toManifest<File extends ManifestFile>(
  { id, serviceId, baseId }: Pick<Manifest, 'id' | 'serviceId' | 'baseId'>,
  files: File[],
): Manifest<File> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { version: 1, id, serviceId, ...(baseId !== undefined && { baseId }), bytes, files };
}

interface CopyOptions {
  to: string;
  read(file: ManifestFile): AsyncIterable<Uint8Array>;
  /** How many files at a time. */
  parallel?: number;
  signal: AbortSignal;
  /** Gets the size of each file that was copied. */
  onBytes?: (bytes: number) => void;
}

/** Copies the files of a manifest, without synchronizing them to the disk. A file that differs from the manifest is an error. */
export async function copyFiles({ id, files }: Manifest, options: CopyOptions): Promise<void> {
  const { to, read, parallel = 1, signal, onBytes = () => {} } = options;
  await forEachParallel(files, parallel, async (file) => {
    const path = join(to, file.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const target = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      rejectDifference(id, file, await hashChunks(read(file), signal, (chunk) => writeAll(target, chunk)));
      onBytes(file.bytes);
    } finally {
      await target.close();
    }
  });
}

async function writeAll(target: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; )
    written += (await target.write(chunk, written, chunk.length - written)).bytesWritten;
}

/** Throws if a file is missing, was added, or differs from the manifest. */
export async function checkFiles({ id, files }: Manifest, folder: string, signal: AbortSignal): Promise<void> {
  const found = new Set(await listFiles(folder));
  for (const file of files) {
    if (!found.delete(file.path)) throw damaged(id, `the file ${file.path} is missing`);
    const { size } = await lstat(join(folder, file.path));
    if (size !== file.bytes) throw damaged(id, `the file ${file.path} has ${size} bytes instead of ${file.bytes}`);
    rejectDifference(id, file, await hashChunks(readChunks(join(folder, file.path)), signal));
  }
  const [added] = found;
  if (added !== undefined) throw damaged(id, `the file ${added} is not in its manifest`);
}

export function rejectDifference(id: string, { path, bytes, sha256 }: ManifestFile, read: Hashed): void {
  if (read.bytes !== bytes) throw damaged(id, `the file ${path} has ${read.bytes} bytes instead of ${bytes}`);
  if (sha256 !== undefined && read.sha256 !== sha256) throw damaged(id, `the file ${path} differs from its checksum`);
}

export const damaged = (id: string, reason: string): AppError =>
  new AppError('conflict', `The backup ${id} is damaged: ${reason}`);

/** So that files survive a power failure. */
export async function syncAll(folder: string): Promise<void> {
  const files = await listFiles(folder);
  const folders = new Set(files.map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
  for (const path of [...files, ...folders, '']) await syncPath(join(folder, path));
}

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
