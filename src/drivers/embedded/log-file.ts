import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, write, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import type { ErrorOutput } from '../../listener/process.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

const MEBIBYTE = 2 ** 20;
/** A log that has become longer is cut to its last half. */
const MAX_BYTES = MEBIBYTE;
/** Enough for the reason of a failed start. */
const KEPT_CHARACTERS = 64 * 1024;

/** The first line of an entry of ClickHouse's log; the other lines have a stack trace, or the rest of a statement. */
const ENTRY = /^\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d/;

/**
 * Writes the errors of a process to a file, which the process cannot do itself: what ClickHouse can write, its queries can
 * too. Errors that cannot be stored, such as those about a full disk, are still listed.
 */
export function openLog(path: string): ErrorOutput & { close(): void } {
  const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  let bytes = fstatSync(descriptor).size;
  let last = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, onWritten) {
      last = (last + chunk.toString('utf8')).slice(-KEPT_CHARACTERS);
      write(descriptor, chunk, (error) => {
        bytes += error ? 0 : chunk.length;
        if (bytes > MAX_BYTES) bytes = trim(path, descriptor);
        onWritten();
      });
    },
    final(onClosed) {
      closeSync(descriptor);
      onClosed();
    },
  });
  return { stream, listLines: () => listOwnLines(last.split('\n').filter(Boolean)), close: () => void stream.end() };
}

/** Returns the new size. */
function trim(path: string, descriptor: number): number {
  try {
    const [, ...kept] = readLog(path, MAX_BYTES / 2);
    ftruncateSync(descriptor);
    return writeSync(descriptor, kept.map((line) => `${line}\n`).join(''));
  } catch {
    // The file was removed, or the disk is full.
    return 0;
  }
}

/** What the program itself has written, such as why ClickHouse does not start. */
function listOwnLines(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => ENTRY.test(line));
  const last = lines.findLastIndex((line) => ENTRY.test(line) || /^\d+\. /.test(line));
  return first < 0 ? [...lines] : [...lines.slice(0, first), ...lines.slice(last + 1)];
}

/** The last lines of a log; none if it does not exist. */
export function readLog(path: string, maxBytes = 2 * MAX_BYTES): string[] {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error(`${path} is not a file`);
    const bytes = Buffer.alloc(Math.min(maxBytes, stats.size));
    const length = readSync(descriptor, bytes, 0, bytes.length, stats.size - bytes.length);
    return bytes
      .toString('utf8', 0, length)
      .split('\n')
      .filter((line) => line !== '');
  } finally {
    closeSync(descriptor);
  }
}
