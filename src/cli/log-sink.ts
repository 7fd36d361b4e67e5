import { write } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const CHUNK_BYTES = 65_536;
const WORTH_WRITING_BYTES = 16_384;
const WRITE_AT_LEAST_EVERY_MS = 500;
/** Standard error may be a pipe that takes no more for now. */
const TRY_AGAIN_MS = 20;
/** Whoever reads the log is slower than we are: beyond this, lines are left out and counted. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;
const CLOSE_WITHIN_MS = 2000;
/** A character of UTF-16 takes at most so many bytes in UTF-8. */
const BYTES_PER_CHARACTER = 3;

/**
 * Lines to a file descriptor, gathered and written in the background, in order. Every request writes one, so they go
 * into bytes at once: pino's own destination gathers text, which takes four times as long. A log that cannot be written
 * (a full disk behind it) falls silent; it must not take the server with it, nor hold it when it stops.
 */
export function openLogSink(fd: number, timestamp: () => string) {
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let length = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let leftOut = 0;
  let isSilent = false;
  let writing: Promise<void> | undefined;

  function put(line: string): void {
    const most = line.length * BYTES_PER_CHARACTER;
    if (length + most > CHUNK_BYTES) seal();
    if (most > CHUNK_BYTES) enqueue(Buffer.from(line));
    else length += chunk.write(line, length);
  }

  /** What was gathered waits to be written. */
  function seal(): void {
    if (length === 0) return;
    enqueue(chunk.subarray(0, length));
    chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    length = 0;
  }

  function enqueue(bytes: Buffer): void {
    waiting.push(bytes);
    waitingBytes += bytes.length;
  }

  function flush(): void {
    seal();
    if (waiting.length > 0) writing ??= writeAll();
  }

  async function writeAll(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (!(await isWritten(next))) {
        isSilent = true;
        waiting = [];
      }
      waitingBytes -= next.length;
    }
    writing = undefined;
  }

  /** False when it will never be. */
  async function isWritten(bytes: Buffer): Promise<boolean> {
    for (let from = 0; from < bytes.length; ) {
      const { code, written } = await writeSome(bytes.subarray(from));
      if (code === 'EAGAIN') await delay(TRY_AGAIN_MS);
      else if (code !== undefined) return false;
      from += written;
    }
    return true;
  }

  const writeSome = (bytes: Buffer) =>
    new Promise<{ code: string | undefined; written: number }>((resolve) => {
      write(fd, bytes, (error, written) => resolve({ code: error?.code, written: error ? 0 : written }));
    });

  const timer = setInterval(flush, WRITE_AT_LEAST_EVERY_MS).unref();

  return {
    /** A line with its end. */
    write(line: string): void {
      if (isSilent) return;
      if (waitingBytes > MOST_WAITING_BYTES) {
        leftOut++;
        return;
      }
      if (leftOut > 0) {
        put(`{"level":40${timestamp()},"lines":${leftOut},"msg":"lines of this log were left out"}\n`);
        leftOut = 0;
      }
      put(line);
      if (length >= WORTH_WRITING_BYTES) flush();
    },
    /** Writes the rest, unless nobody takes it. */
    async close(): Promise<void> {
      clearInterval(timer);
      flush();
      await Promise.race([writing, delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    },
  };
}
