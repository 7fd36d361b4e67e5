import { appendFileSync, closeSync, constants, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { escapeControls } from '../../../kernel/text.ts';
import type { ErrorOutput } from '../../../platform/listener/process.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

const MEBIBYTE = 2 ** 20;
/** A log that has become longer is cut to its last half. */
const MAX_BYTES = MEBIBYTE;
/** Enough for the reason of a failed start. */
const START_BYTES = 64 * 1024;
/** Read from the end of the log for users. */
const TAIL_BYTES = 256 * 1024;
/** Longer lines are cut. */
const MAX_LINE_LENGTH = 4096;

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

interface LogTail {
  /** Oldest first. Control characters are escaped. */
  lines: string[];
  /** The log has earlier lines. */
  hasEarlier: boolean;
}

/** The last lines of a log, for users. Its text comes from queries, so it is not trusted. */
export function readLogTail(path: string, maxLines: number): LogTail {
  const { text, start } = readEnd(path, 0, TAIL_BYTES);
  const lines = text.split('\n');
  // Starts in the middle of a line.
  if (start > 0) lines.shift();
  const found = lines.filter((line) => line.trim() !== '');
  return {
    lines: found.slice(-maxLines).map((line) => escapeControls(line.slice(0, MAX_LINE_LENGTH))),
    hasEarlier: start > 0 || found.length > maxLines,
  };
}

/** The last lines of a log. At most `maxBytes` are read, from the byte `from`. */
function readLog(path: string, { from = 0, maxBytes }: { from?: number; maxBytes: number }): string[] {
  return readEnd(path, from, maxBytes)
    .text.split('\n')
    .filter((line) => line !== '');
}

/** Empty if there is no log. A link could lead out of the directory, and opening a pipe would wait for its other end. */
function readEnd(path: string, from: number, maxBytes: number): { text: string; start: number } {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return { text: '', start: 0 };
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { text: '', start: 0 };
    const start = Math.max(from > stats.size ? 0 : from, stats.size - maxBytes);
    const bytes = Buffer.alloc(Math.max(0, stats.size - start));
    return { text: bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, start)), start };
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
