import { Worker } from 'node:worker_threads';
import { AppError } from '../../kernel/errors.ts';
import { findInPackage } from '../../kernel/package-files.ts';
import { createByteLimit } from './byte-limit.ts';
import type { OtlpRequest, Refused, TranscodeOptions } from './transcode.ts';
import type { ThreadReply, ThreadRequest } from './transcoder-thread.ts';
import type { Transcoded } from './wire/batch.ts';

/** Of requests that wait for a thread, to limit memory. Senders try again. */
const MAX_WAITING_BYTES = 128 * 2 ** 20;
/** Requests of SDKs and collectors are smaller. A larger one may take seconds. */
const LARGE_BYTES = 4 * 2 ** 20;
const USUAL_COMPRESSION = 8;
/** One request may need this much for its body, its JSON values and its rows. */
const MAX_HEAP_MB = 1024;

interface Waiting {
  resolve(result: Transcoded | Refused): void;
  reject(error: unknown): void;
}

/** Runs `transcode` in threads, which start with the first request. Large requests have a thread of their own, so that others do not wait for them. Must be closed. */
export function createTranscoder() {
  const [small, large] = [createThread(), createThread()];
  const waiting = createByteLimit(MAX_WAITING_BYTES);

  return {
    /** The bytes of the request may be moved to the thread: do not use them afterwards. */
    async run(request: OtlpRequest, options: TranscodeOptions): Promise<Transcoded | Refused> {
      const bytes = request.body.length;
      waiting.require(bytes);
      const held = waiting.hold(bytes);
      const expectedBytes = request.compression ? bytes * USUAL_COMPRESSION : bytes;
      try {
        return await (expectedBytes < LARGE_BYTES ? small : large).run(request, options);
      } finally {
        held.release();
      }
    },

    async close(): Promise<void> {
      await Promise.all([small.close(), large.close()]);
    },
  };
}

function createThread() {
  let worker: Worker | undefined;
  let lastId = 0;
  const waiting = new Map<number, Waiting>();

  function start(): Worker {
    const program = findInPackage('dist/otlp-transcoder.js');
    if (program === undefined) throw new Error('The program dist/otlp-transcoder.js is not built; run npm run build');
    const started = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    started.on('message', (reply: ThreadReply) => {
      const job = settle(reply.id);
      if ('result' in reply) job?.resolve(reply.result);
      else job?.reject(new Error(reply.error));
    });
    // The thread takes requests in their order. The one that ended it, for example by its memory, must not be sent again.
    started.on('error', (cause) => {
      const [first] = waiting.keys();
      if (first !== undefined) settle(first)?.reject(new AppError('payload_too_large', TOO_LARGE, { cause }));
      failAll(started, 'Another request ended the thread that reads telemetry');
    });
    started.on('exit', () => failAll(started, 'The server is stopping'));
    // It does not keep the process alive by itself.
    started.unref();
    return started;
  }

  function settle(id: number): Waiting | undefined {
    const job = waiting.get(id);
    waiting.delete(id);
    return job;
  }

  /** Senders try again. */
  function failAll(ended: Worker, message: string): void {
    if (worker !== ended) return;
    worker = undefined;
    for (const id of [...waiting.keys()]) settle(id)?.reject(new AppError('unavailable', message));
  }

  return {
    run(request: OtlpRequest, options: TranscodeOptions): Promise<Transcoded | Refused> {
      worker ??= start();
      const id = ++lastId;
      const body = toMovable(request.body);
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const message: ThreadRequest = { id, request: { ...request, body }, options };
        worker?.postMessage(message, [body.buffer as ArrayBuffer]);
      });
    },

    async close(): Promise<void> {
      await worker?.terminate();
    },
  };
}

const TOO_LARGE = 'The request needs more memory than the server has for it; send fewer records at a time';

/** Small buffers share their memory with others and are copied. */
const toMovable = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.prototype.slice.call(bytes);
