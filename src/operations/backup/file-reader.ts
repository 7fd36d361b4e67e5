import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError } from '../../kernel/errors.ts';
import {
  checkHeader,
  damaged,
  formatLine,
  type Header,
  MAX_LINE_BYTES,
  parseLine,
  type TableHeader,
} from './format.ts';

const decompress = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);
const MAX_CONTENT_BYTES = 2 ** 30;

/** Some rows of a table. */
interface RowChunk {
  table: TableHeader;
  rows: number;
  /** Decompresses the rows. */
  readContent(): Promise<Buffer>;
}

/** A backup whose checksums are all correct. */
export interface BackupReader {
  header: Header;
  bytes: number;
  /** The number of rows of each table. */
  tables: Map<TableHeader, number>;
  /** Reads the file again from the start. */
  readChunks(): AsyncGenerator<RowChunk>;
  close(): Promise<void>;
}

/** Reads the whole file and verifies every checksum before anything is used. Must be closed. */
export async function openBackup(
  path: string,
  onProgress: (bytes: number, total: number) => void,
): Promise<BackupReader> {
  const handle = await open(path, 'r').catch((error) => Promise.reject(toReadError(path, error)));
  try {
    const { size } = await handle.stat();
    const tables = new Map<TableHeader, number>();
    const scan = createScan(handle, path);
    const header = await scan.readHeader();
    for await (const { table, rows } of scan.readEntries()) {
      tables.set(table, (tables.get(table) ?? 0) + rows);
      onProgress(scan.position(), size);
    }
    return {
      header,
      bytes: size,
      tables,
      async *readChunks() {
        const again = createScan(handle, path);
        await again.readHeader();
        for await (const { table, rows, content } of again.readEntries())
          if (content)
            yield { table, rows, readContent: () => decompress(content, { maxOutputLength: MAX_CONTENT_BYTES }) };
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error instanceof AppError ? error : toReadError(path, error);
  }
}

const toReadError = (path: string, error: unknown): AppError =>
  new AppError('bad_request', `${path} cannot be read: ${(error as Error).message}`, { cause: error });

interface Entry {
  table: TableHeader;
  rows: number;
  /** Undefined for the start of a table. */
  content?: Buffer;
}

const READ_BYTES = 2 ** 20;

/** Reads the file once, from start to end, and throws at the first error. */
function createScan(handle: FileHandle, path: string) {
  const hash = createHash('sha256');
  let buffered = Buffer.alloc(0);
  let filePosition = 0;

  /** Makes at least `bytes` bytes available; false at the end of the file. */
  async function fill(bytes: number): Promise<boolean> {
    const parts = [buffered];
    let available = buffered.length;
    while (available < bytes) {
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafe(Math.max(READ_BYTES, bytes - available)),
        0,
        undefined,
        filePosition,
      );
      if (bytesRead === 0) break;
      filePosition += bytesRead;
      available += bytesRead;
      parts.push(buffer.subarray(0, bytesRead));
    }
    buffered = Buffer.concat(parts);
    return available >= bytes;
  }

  function take(bytes: number): Buffer {
    const taken = buffered.subarray(0, bytes);
    buffered = buffered.subarray(bytes);
    return taken;
  }

  /** The next line with its newline; undefined at the end of the file. */
  async function readLine(): Promise<Buffer | undefined> {
    for (let wanted = 1; ; wanted = buffered.length + 1) {
      const end = buffered.indexOf(0x0a);
      if (end >= 0) return take(end + 1);
      if (wanted > MAX_LINE_BYTES || !(await fill(wanted))) return undefined;
    }
  }

  async function readChunkContent(bytes: number, sha256: string): Promise<Buffer> {
    if (!(await fill(bytes))) throw damaged(path, 'the end of the file is missing');
    const content = Buffer.from(take(bytes));
    if (createHash('sha256').update(content).digest('hex') !== sha256)
      throw damaged(path, `the checksum of the rows before byte ${filePosition - buffered.length} is wrong`);
    return content;
  }

  /** Only the newline at the end of the trailer follows its checksum. */
  async function checkEnd(line: Buffer): Promise<void> {
    const expected = formatLine({ type: 'end', sha256: hash.digest('hex') });
    if (!line.equals(expected)) throw damaged(path, 'the checksum of the file is wrong');
    if (await fill(1)) throw damaged(path, 'there is data after its end');
  }

  return {
    position: () => filePosition - buffered.length,

    async readHeader(): Promise<Header> {
      const bytes = await readLine();
      const line = bytes && parseLine(bytes.toString('utf8'));
      if (!bytes || line?.type !== 'pilothouse-backup')
        throw new AppError('bad_request', `${path} is not a backup made by pilothouse backup`);
      hash.update(bytes);
      return checkHeader(line, path);
    },

    async *readEntries(): AsyncGenerator<Entry> {
      let table: TableHeader | undefined;
      for (;;) {
        const bytes = await readLine();
        if (!bytes) throw damaged(path, 'the end of the file is missing');
        const line = parseLine(bytes.toString('utf8'));
        if (line?.type === 'end') return await checkEnd(bytes);
        hash.update(bytes);
        if (line?.type === 'table') {
          table = line;
          yield { table, rows: 0 };
        } else if (line?.type === 'rows' && table) {
          const content = await readChunkContent(line.bytes, line.sha256);
          hash.update(content);
          yield { table, rows: line.rows, content };
        } else throw damaged(path, `the line before byte ${filePosition - buffered.length} is not valid`);
      }
    },
  };
}
