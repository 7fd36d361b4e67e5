import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';

interface ManifestFile {
  /** Relative to the folder of the files, with `/`. */
  path: string;
  bytes: number;
  sha256: string;
}

/** What a backup consists of. */
export interface Manifest {
  version: 1;
  id: string;
  serviceId: string;
  baseId?: string | undefined;
  bytes: number;
  files: ManifestFile[];
}

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

/** Reads a file once, and gives its contents to `write`. */
async function readHashed(
  path: string,
  write: ((chunk: Uint8Array) => Promise<void>) | undefined,
  signal: AbortSignal,
): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW);
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let bytes = 0;
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, bytes);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      await write?.(chunk);
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

export async function createManifest(
  folder: string,
  { id, serviceId, baseId }: Pick<Manifest, 'id' | 'serviceId' | 'baseId'>,
  signal: AbortSignal,
): Promise<Manifest> {
  const files: ManifestFile[] = [];
  for (const path of await listFiles(folder))
    files.push({ path, ...(await readHashed(join(folder, path), undefined, signal)) });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { version: 1, id, serviceId, ...(baseId !== undefined && { baseId }), bytes, files };
}

/** Copies the files of a manifest. A file that differs from the manifest is an error. `onBytes` gets the number of copied bytes. */
export async function copyFiles(
  { id, files }: Manifest,
  from: string,
  to: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  for (const file of files) {
    const path = join(to, file.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const target = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      const copied = await readHashed(join(from, file.path), (chunk) => writeAll(target, chunk), signal);
      rejectDifference(id, file, copied);
      await target.sync();
      onBytes(copied.bytes);
    } finally {
      await target.close();
    }
  }
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
    rejectDifference(id, file, await readHashed(join(folder, file.path), undefined, signal));
  }
  const [added] = found;
  if (added !== undefined) throw damaged(id, `the file ${added} is not in its manifest`);
}

function rejectDifference(id: string, { path, bytes, sha256 }: ManifestFile, read: Omit<ManifestFile, 'path'>): void {
  if (read.bytes !== bytes) throw damaged(id, `the file ${path} has ${read.bytes} bytes instead of ${bytes}`);
  if (read.sha256 !== sha256) throw damaged(id, `the file ${path} differs from its checksum`);
}

export const damaged = (id: string, reason: string): AppError =>
  new AppError('conflict', `The backup ${id} is damaged: ${reason}`);
