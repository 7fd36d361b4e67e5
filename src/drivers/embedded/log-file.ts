import { appendFileSync, closeSync, constants, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import type { ErrorOutput } from '../../listener/process.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

const MEBIBYTE = 2 ** 20;
/** A log that has become longer is cut to its last half. */
const MAX_BYTES = MEBIBYTE;
/** Enough for the reason of a failed start. */
const START_BYTES = 64 * 1024;

/** The first line of an entry of ClickHouse's log; the other lines have a stack trace, or the rest of a statement. */
const ENTRY = /^\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d/;

/** The error log of a service, opened for one start. */
interface ServiceLog extends ErrorOutput {
  close(): void;
}

/**
 * The process inherits the open file. It must not be able to open it: what ClickHouse can write, its queries can too.
 */
export function openLog(path: string): ServiceLog {
  const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const { size } = fstatSync(descriptor);
  return {
    descriptor,
    listLines: () => listOwnLines(readLog(path, { from: size, maxBytes: START_BYTES })),
    close: () => closeSync(descriptor),
  };
}

/** What the program itself has written, such as why ClickHouse does not start. */
function listOwnLines(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => ENTRY.test(line));
  const last = lines.findLastIndex((line) => ENTRY.test(line) || /^\d+\. /.test(line));
  return first < 0 ? [...lines] : [...lines.slice(0, first), ...lines.slice(last + 1)];
}

/** The last lines of a log; none if it does not exist. At most `maxBytes` are read, from the byte `from`. */
export function readLog(path: string, { from = 0, maxBytes = 2 * MEBIBYTE } = {}): string[] {
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
    const start = Math.max(from > stats.size ? 0 : from, stats.size - maxBytes);
    const bytes = Buffer.alloc(Math.max(0, stats.size - start));
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, start));
    return text.split('\n').filter((line) => line !== '');
  } finally {
    closeSync(descriptor);
  }
}

/** The process appends, so it continues at the new end. */
export function trimLog(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= MAX_BYTES) return;
  const [, ...kept] = readLog(path, { maxBytes: MAX_BYTES / 2 });
  truncateSync(path, 0);
  appendFileSync(path, kept.map((line) => `${line}\n`).join(''));
}
