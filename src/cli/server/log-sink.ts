import { write } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const CHUNK_BYTES = 65_536;
/** A pipe does not mix writes of up to this length with those of other processes. */
const SHARED_CHUNK_BYTES = 4096;
const FLUSH_BYTES = 16_384;
const FLUSH_INTERVAL_MS = 500;
/** Delay after EAGAIN: standard error may be a full pipe. */
const RETRY_MS = 20;
/** When the reader of the log is this far behind, lines are dropped and counted. */
const MAX_QUEUED_BYTES = 16 * 2 ** 20;
const CLOSE_TIMEOUT_MS = 2000;
/** A UTF-16 code unit takes at most three bytes in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3;

/**
 * Writes lines to a file descriptor in the background, in order. Lines are encoded as they arrive: pino's own
 * destination buffers strings, which takes four times as long per request. After a write error (such as a full disk)
 * the sink discards everything, so that logging neither stops the server nor delays its shutdown. `isShared`: other
 * processes write to the same file.
 */
export function openLogSink(fd: number, timestamp: () => string, { isShared = false } = {}) {
  const chunkBytes = isShared ? SHARED_CHUNK_BYTES : CHUNK_BYTES;
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let length = 0;
  let queue: Buffer[] = [];
  let queuedBytes = 0;
  let droppedLines = 0;
  let hasFailed = false;
  let writing: Promise<void> | undefined;

  function append(line: string): void {
    const maxBytes = line.length * MAX_BYTES_PER_CHARACTER;
    if (length + maxBytes > chunkBytes) flush();
    if (maxBytes > chunkBytes) enqueue(Buffer.from(line));
    else length += chunk.write(line, length);
  }

  function enqueueChunk(): void {
    if (length === 0) return;
    enqueue(chunk.subarray(0, length));
    chunk = Buffer.allocUnsafe(chunkBytes);
    length = 0;
  }

  function enqueue(bytes: Buffer): void {
    queue.push(bytes);
    queuedBytes += bytes.length;
  }

  function flush(): void {
    enqueueChunk();
    if (queue.length > 0) writing ??= writeQueue();
  }

  async function writeQueue(): Promise<void> {
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (!(await tryWrite(next))) {
        hasFailed = true;
        queue = [];
      }
      queuedBytes -= next.length;
    }
    writing = undefined;
  }

  /** Returns false after an error that retrying cannot fix. */
  async function tryWrite(bytes: Buffer): Promise<boolean> {
    for (let offset = 0; offset < bytes.length; ) {
      const { code, written } = await writeOnce(bytes.subarray(offset));
      if (code === 'EAGAIN') await delay(RETRY_MS);
      else if (code !== undefined) return false;
      offset += written;
    }
    return true;
  }

  const writeOnce = (bytes: Buffer) =>
    new Promise<{ code: string | undefined; written: number }>((resolve) => {
      write(fd, bytes, (error, written) => resolve({ code: error?.code, written: error ? 0 : written }));
    });

  const timer = setInterval(flush, FLUSH_INTERVAL_MS).unref();

  return {
    /** `line` includes its line break. */
    write(line: string): void {
      if (hasFailed) return;
      if (queuedBytes > MAX_QUEUED_BYTES) {
        droppedLines++;
        return;
      }
      if (droppedLines > 0) {
        append(`{"level":40${timestamp()},"lines":${droppedLines},"msg":"log lines were dropped"}\n`);
        droppedLines = 0;
      }
      append(line);
      if (length >= FLUSH_BYTES) flush();
    },
    /** Writes the remaining lines, for at most two seconds. */
    async close(): Promise<void> {
      clearInterval(timer);
      flush();
      await Promise.race([writing, delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}
