import {
  closeSync,
  createReadStream,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { ProcessAccess } from './command.ts';

const READ_CHUNK_BYTES = 1024 * 1024;

export const readFile: ProcessAccess['readFile'] = (path, maxBytes) =>
  maxBytes === undefined ? readFileSync(path, 'utf8') : readLimited(path, maxBytes);

/** Reads no more than one byte too many, also from a pipe, whose size is unknown. */
function readLimited(path: string, maxBytes: number): string {
  const parts: Buffer[] = [];
  const fd = openSync(path, 'r');
  try {
    for (let length = 0; length <= maxBytes; ) {
      const part = Buffer.alloc(Math.min(maxBytes + 1 - length, READ_CHUNK_BYTES));
      const read = readSync(fd, part, 0, part.length, null);
      if (read === 0) return Buffer.concat(parts).toString('utf8');
      parts.push(part.subarray(0, read));
      length += read;
    }
    throw new Error(`it is larger than ${maxBytes} bytes`);
  } finally {
    closeSync(fd);
  }
}

/** Windows has no such permissions. */
export const readFileMode: ProcessAccess['readFileMode'] = (path) =>
  process.platform === 'win32' ? 0 : statSync(path).mode;

export const writeFile: ProcessAccess['writeFile'] = (path, text) => writeFileSync(path, text);

export const writeNewFile: ProcessAccess['writeNewFile'] = (path, text) =>
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });

export const writePrivateFile: ProcessAccess['writePrivateFile'] = (path, text) => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Renamed at the end, so that the file is complete and never readable by others.
  const temporary = `${path}.${process.pid}`;
  rmSync(temporary, { force: true });
  writeNewFile(temporary, text);
  renameSync(temporary, path);
};

export const openFile: ProcessAccess['openFile'] = (path) => {
  const fd = openSync(path, 'r');
  return { bytes: fstatSync(fd).size, chunks: createReadStream(path, { fd, highWaterMark: READ_CHUNK_BYTES }) };
};
