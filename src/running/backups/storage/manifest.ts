import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../../kernel/errors.ts';
import { forEachParallel } from '../../../kernel/tasks/parallel.ts';
import { areValidChecksums, type ChecksumKind, type Checksums, createChecksum, findChecksum } from './checksum.ts';

/** A file that ClickHouse itself has written to the storage has no checksum. */
export interface ManifestFile extends Checksums {
  /** Relative to the folder of the files, with `/`. */
  path: string;
  bytes: number;
}

/** A file that was read. */
export type HashedFile<Kind extends ChecksumKind> = ManifestFile & Record<Kind, string>;

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

const isValidFile = ({ path, bytes, ...checksums }: ManifestFile): boolean =>
  path.split('/').every((name) => !['', '.', '..'].includes(name) && !name.includes('\0')) &&
  Number.isSafeInteger(bytes) &&
  bytes >= 0 &&
  areValidChecksums(checksums);

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

/**
 * Reads a file in chunks, which are valid until the next one is read. A thread of Node reads the next one meanwhile.
 * Rejects a link.
 */
export async function* readChunks(path: string, chunkBytes = CHUNK_BYTES): AsyncGenerator<Buffer> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW);
  const buffers: Buffer[] = [];
  const read = async (index: number): Promise<Buffer> => {
    const buffer = buffers[index % 2] ?? Buffer.allocUnsafe(chunkBytes);
    buffers[index % 2] = buffer;
    let filled = 0;
    for (let bytesRead = -1; bytesRead !== 0 && filled < chunkBytes; filled += bytesRead)
      ({ bytesRead } = await file.read(buffer, filled, chunkBytes - filled, null));
    return buffer.subarray(0, filled);
  };
  let next = read(0);
  try {
    for (let index = 1; ; index++) {
      const chunk = await next;
      const isLast = chunk.length < chunkBytes;
      if (!isLast) {
        next = read(index);
        // It fails when it is awaited.
        next.catch(() => {});
      }
      if (chunk.length > 0) yield chunk;
      if (isLast) return;
    }
  } finally {
    await next.catch(() => {});
    await file.close();
  }
}

interface Contents {
  bytes: number;
  checksum: string;
}

/** Gives all chunks to `write`. */
async function readContents(
  chunks: AsyncIterable<Uint8Array>,
  kind: ChecksumKind,
  signal: AbortSignal,
  write?: (chunk: Uint8Array) => Promise<void>,
): Promise<Contents> {
  const checksum = createChecksum(kind);
  let bytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    // A thread of Node writes meanwhile.
    const written = write?.(chunk);
    checksum.update(chunk);
    await written;
    bytes += chunk.length;
  }
  return { bytes, checksum: checksum.digest() };
}

/** As `readContents`, and throws if they are not those of the file. */
export async function checkContents(
  id: string,
  file: ManifestFile,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  write?: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const kind = findChecksum(file);
  const { bytes, checksum } = await readContents(chunks, kind ?? 'crc32', signal, write);
  rejectSize(id, file, bytes);
  if (kind !== undefined && checksum !== file[kind])
    throw damaged(id, `the file ${file.path} differs from its checksum`);
}

function rejectSize(id: string, file: ManifestFile, bytes: number): void {
  if (bytes !== file.bytes) throw damaged(id, `the file ${file.path} has ${bytes} bytes instead of ${file.bytes}`);
}

export async function createManifest<Kind extends ChecksumKind>(
  folder: string,
  { id, serviceId, baseId }: Pick<Manifest, 'id' | 'serviceId' | 'baseId'>,
  kind: Kind,
  signal: AbortSignal,
): Promise<Manifest<HashedFile<Kind>>> {
  const files: HashedFile<Kind>[] = [];
  for (const path of await listFiles(folder)) {
    const { bytes, checksum } = await readContents(readChunks(join(folder, path)), kind, signal);
    files.push({ path, bytes, ...({ [kind]: checksum } as Record<Kind, string>) });
  }
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
  onBytes?: OnBytes | undefined;
}

export type OnBytes = (bytes: number) => void;

/** Copies the files of a manifest, without synchronizing them to the disk. A file that differs from the manifest is an error. */
export async function copyFiles({ id, files }: Manifest, options: CopyOptions): Promise<void> {
  const { to, read, parallel = 1, signal, onBytes } = options;
  await forEachParallel(files, parallel, async (file) => {
    await copyFile(id, file, read(file), await createParent(to, file), signal);
    onBytes?.(file.bytes);
  });
}

async function copyFile(
  id: string,
  file: ManifestFile,
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const target = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await checkContents(id, file, chunks, signal, (chunk) => writeAll(target, chunk));
  } finally {
    await target.close();
  }
}

/** Returns the path of the file. */
async function createParent(folder: string, file: ManifestFile): Promise<string> {
  const path = join(folder, file.path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

async function writeAll(target: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; )
    written += (await target.write(chunk, written, chunk.length - written)).bytesWritten;
}

/**
 * Gives a file of `from` a second name in `to`, without reading it. False if that is not possible, for example because the
 * two are on different file systems.
 */
export async function linkFile(id: string, from: string, to: string, file: ManifestFile): Promise<boolean> {
  const path = await createParent(to, file);
  try {
    await link(join(from, file.path), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw damaged(id, `the file ${file.path} is missing`);
    return false;
  }
  // A symbolic link could lead elsewhere.
  if (!(await lstat(path)).isFile()) throw damaged(id, `${file.path} is not a file`);
  return true;
}

/** Throws if a file is missing, was added, or differs from the manifest. */
export async function checkFiles({ id, files }: Manifest, folder: string, signal: AbortSignal): Promise<void> {
  const found = new Set(await listFiles(folder));
  for (const file of files) {
    if (!found.delete(file.path)) throw damaged(id, `the file ${file.path} is missing`);
    const path = join(folder, file.path);
    rejectSize(id, file, (await lstat(path)).size);
    await checkContents(id, file, readChunks(path), signal);
  }
  const [added] = found;
  if (added !== undefined) throw damaged(id, `the file ${added} is not in its manifest`);
}

export const damaged = (id: string, reason: string): AppError =>
  new AppError('conflict', `The backup ${id} is damaged: ${reason}`);

/** As many as Node has threads for. */
const SYNC_PARALLEL = 4;

/** So that files survive a power failure. */
export async function syncAll(folder: string): Promise<void> {
  const files = await listFiles(folder);
  const folders = new Set(files.map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
  await forEachParallel([...files, ...folders, ''], SYNC_PARALLEL, (path) => syncPath(join(folder, path)));
}

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
