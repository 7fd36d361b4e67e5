import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

interface FoundText {
  text: string;
  stats: Stats;
}

/**
 * Reads a file of at most `maxBytes`. Throws if it is larger, or something else than a file: opening a FIFO waits for its
 * writer, and a device may have no end. It may be replaced while it is read.
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<FoundText> {
  rejectSpecial(await stat(path));
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    // It may have been replaced since.
    const stats = await file.stat();
    rejectSpecial(stats);
    return { text: (await readAtMost(file, stats.size, maxBytes)).toString('utf8'), stats };
  } finally {
    await file.close();
  }
}

export const readBoundedText = async (path: string, maxBytes: number): Promise<string> =>
  (await readBoundedFile(path, maxBytes)).text;

class FileError extends Error {
  readonly code = 'EINVAL';
}

function rejectSpecial(stats: Stats): void {
  if (!stats.isFile()) throw new FileError(`it is ${stats.isDirectory() ? 'a directory' : 'not a regular file'}`);
}

/** Reads one byte too many at most. The size of files such as those in /proc is 0. */
async function readAtMost(file: FileHandle, expectedBytes: number, maxBytes: number): Promise<Buffer> {
  if (expectedBytes > maxBytes) throw tooLarge(maxBytes);
  const parts: Buffer[] = [];
  for (let bytes = 0; bytes <= maxBytes; ) {
    const part = Buffer.alloc(Math.min(maxBytes + 1 - bytes, Math.max(expectedBytes - bytes, 4096)));
    const { bytesRead } = await file.read(part, 0, part.length, null);
    if (bytesRead === 0) return Buffer.concat(parts);
    parts.push(part.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  throw tooLarge(maxBytes);
}

const tooLarge = (maxBytes: number): FileError => new FileError(`it is larger than ${maxBytes} bytes`);
