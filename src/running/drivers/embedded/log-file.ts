import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, write, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { escapeControls } from '../../../kernel/text.ts';
import type { ErrorOutput } from '../../../platform/listener/process.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

const MEBIBYTE = 2 ** 20;
/** A log that has become longer is cut to its last half. */
const MAX_BYTES = MEBIBYTE;
/** Enough for the reason of a failed start. */
const KEPT_CHARACTERS = 64 * 1024;
/** Read from the end of the log for users. */
const TAIL_BYTES = 256 * 1024;
/** Longer lines are cut. */
const MAX_LINE_LENGTH = 4096;

/** The first line of an entry of ClickHouse's log; the other lines have a stack trace, or the rest of a statement. */
const ENTRY = /^\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d/;

/** ClickHouse's answer when a start checks that no client can be its user `default` (platform/listener/listener.ts). */
const OWN_CHECK =
  /\{\} <Error> \w+: (\w+: )?Code: 700\. DB::Exception: User [\da-f-]{36} has overflown session count 1\. /;
/** One over HTTP and one over the native protocol. Later ones are those of other programs. */
const OWN_CHECKS = 2;
/** The other lines of such an entry. */
const STACK_LINE = /^(\d+\. .*| \(version .*|)$/;

/**
 * Writes the errors of a process to a file, which the process cannot do itself: what ClickHouse can write, its queries can
 * too. Errors that cannot be stored, such as those about a full disk, are still listed.
 */
export function openLog(path: string): ErrorOutput & { close(): void } {
  const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  let bytes = fstatSync(descriptor).size;
  let last = '';
  const filter = createOwnCheckFilter();
  const append = (chunk: Buffer, onWritten: () => void) =>
    write(descriptor, chunk, (error) => {
      bytes += error ? 0 : chunk.length;
      if (bytes > MAX_BYTES) bytes = trim(path, descriptor);
      onWritten();
    });
  const stream = new Writable({
    write(chunk: Buffer, _encoding, onWritten) {
      last = (last + chunk.toString('utf8')).slice(-KEPT_CHARACTERS);
      append(filter.add(chunk), onWritten);
    },
    final(onClosed) {
      append(filter.end(), () => {
        closeSync(descriptor);
        onClosed();
      });
    },
  });
  return { stream, listLines: () => listOwnLines(last.split('\n').filter(Boolean)), close: () => void stream.end() };
}

/** Removes the entries about our own checks of a start. The log arrives in pieces; what is not a whole line waits for the rest. */
export function createOwnCheckFilter() {
  let rest = '';
  let checks = 0;
  let isSkipped = false;
  function isKept(line: string): boolean {
    if (ENTRY.test(line)) {
      isSkipped = checks < OWN_CHECKS && OWN_CHECK.test(line);
      if (isSkipped) checks++;
    } else if (!STACK_LINE.test(line)) isSkipped = false;
    return !isSkipped;
  }
  return {
    add(chunk: Buffer): Buffer {
      // One character per byte: a character of several bytes may be in two pieces.
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      const kept = lines.filter(isKept).map((line) => `${line}\n`);
      if (rest.length > KEPT_CHARACTERS) {
        kept.push(rest);
        rest = '';
      }
      return Buffer.from(kept.join(''), 'latin1');
    },
    end: (): Buffer => Buffer.from(rest && isKept(rest) ? rest : '', 'latin1'),
  };
}

/** Returns the new size. */
function trim(path: string, descriptor: number): number {
  try {
    const kept = readEnd(path, MAX_BYTES / 2)
      .text.split('\n')
      .slice(1)
      .filter(Boolean);
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

interface LogTail {
  /** Oldest first. Control characters are escaped. */
  lines: string[];
  /** The log has earlier lines. */
  hasEarlier: boolean;
}

/** The last lines of a log, for users. Its text comes from queries, so it is not trusted. */
export function readLogTail(path: string, maxLines: number): LogTail {
  const { text, start } = readEnd(path, TAIL_BYTES);
  const lines = text.split('\n');
  // Starts in the middle of a line.
  if (start > 0) lines.shift();
  const found = lines.filter((line) => line.trim() !== '');
  return {
    lines: found.slice(-maxLines).map((line) => escapeControls(line.slice(0, MAX_LINE_LENGTH))),
    hasEarlier: start > 0 || found.length > maxLines,
  };
}

/** Empty if there is no log. A link could lead out of the directory, and opening a pipe would wait for its other end. */
function readEnd(path: string, maxBytes: number): { text: string; start: number } {
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
    const start = Math.max(0, stats.size - maxBytes);
    const bytes = Buffer.alloc(stats.size - start);
    return { text: bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, start)), start };
  } finally {
    closeSync(descriptor);
  }
}
