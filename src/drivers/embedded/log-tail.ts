import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Read from the end of the log. */
const MAX_BYTES = 256 * 1024;
/** Longer lines are cut. */
const MAX_LINE_LENGTH = 4096;

interface LogTail {
  /** Oldest first. Control characters are shown as `\x1b`. */
  lines: string[];
  /** The log has earlier lines. */
  hasEarlier: boolean;
}

/** The last lines of the log. Its text comes from queries, so it is not trusted. ClickHouse creates the file with its first start. */
export async function readLogTail(path: string, maxLines: number): Promise<LogTail> {
  // A link could lead out of the directory of the service, and opening a pipe would wait for its other end.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(ignoreMissing);
  if (!file) return { lines: [], hasEarlier: false };
  try {
    return await readTail(file, maxLines);
  } finally {
    await file.close();
  }
}

async function readTail(file: FileHandle, maxLines: number): Promise<LogTail> {
  const stats = await file.stat();
  if (!stats.isFile()) return { lines: [], hasEarlier: false };
  const start = Math.max(0, stats.size - MAX_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stats.size, MAX_BYTES)), 0, undefined, start);
  const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
  // Starts in the middle of a line.
  if (start > 0) lines.shift();
  const found = lines.filter((line) => line.trim() !== '');
  return {
    lines: found.slice(-maxLines).map((line) => escapeControls(line.slice(0, MAX_LINE_LENGTH))),
    hasEarlier: start > 0 || found.length > maxLines,
  };
}

/** Terminals obey control characters, and invisible ones change the order of text. */
const escapeControls = (line: string): string =>
  line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });

/** ELOOP: the log is a link. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ELOOP') return undefined;
  throw error;
}
