import { createHash, randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { AppError } from '../../kernel/errors.ts';
import { formatLine, type Line } from './format.ts';

const compress = promisify<Buffer, Buffer>(gzip);

export interface BackupWriter {
  writeLine(line: Line): Promise<void>;
  writeRows(rows: number, content: Buffer): Promise<void>;
  /** The bytes written so far. */
  size(): number;
  /** Makes the file durable and gives it its name. */
  finish(): Promise<{ bytes: number; sha256: string }>;
  /** Removes the unfinished file. */
  discard(): Promise<void>;
}

interface Options {
  /** Replace an existing file. */
  force: boolean;
}

/** Writes next to the file under a temporary name, so that the file is always complete. */
export async function openBackupWriter(file: string, { force }: Options): Promise<BackupWriter> {
  const path = resolve(file);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.partial`;
  rejectExisting();
  const handle = await open(temporary, 'wx', 0o600).catch((error) => Promise.reject(toWriteError(error)));
  // A second signal ends the process without running `discard`.
  const removeAtExit = () => rmSync(temporary, { force: true });
  process.once('exit', removeAtExit);
  const hash = createHash('sha256');
  let size = 0;

  async function write(bytes: Buffer): Promise<void> {
    try {
      await handle.writeFile(bytes);
    } catch (error) {
      throw toWriteError(error);
    }
    hash.update(bytes);
    size += bytes.length;
  }

  return {
    writeLine: (line) => write(formatLine(line)),
    async writeRows(rows, content) {
      const bytes = await compress(content);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await write(formatLine({ type: 'rows', rows, bytes: bytes.length, sha256 }));
      await write(bytes);
    },
    size: () => size,
    async finish() {
      const sha256 = hash.copy().digest('hex');
      await write(formatLine({ type: 'end', sha256 }));
      try {
        await handle.sync();
        await handle.close();
        rejectExisting();
        await rename(temporary, path);
        await syncDirectory(dirname(path));
      } catch (error) {
        throw error instanceof AppError ? error : toWriteError(error);
      }
      process.off('exit', removeAtExit);
      return { bytes: size, sha256 };
    },
    async discard() {
      await handle.close().catch(() => {});
      await rm(temporary, { force: true });
      process.off('exit', removeAtExit);
    },
  };

  function rejectExisting(): void {
    if (!force && existsSync(path))
      throw new AppError('conflict', `${file} exists; choose another name, or replace it with --force`);
  }

  function toWriteError(error: unknown): AppError {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOSPC' || code === 'EFBIG' || code === 'EDQUOT' ? 'the disk is full' : message;
    return new AppError('unavailable', `${file} cannot be written: ${reason}`, { cause: error });
  }
}

/** The new name is durable only after this. */
async function syncDirectory(path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    await handle.sync();
  } catch {
    // Not every file system can do this.
  } finally {
    await handle?.close();
  }
}
