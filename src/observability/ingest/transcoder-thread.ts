import { parentPort } from 'node:worker_threads';
import { type OtlpRequest, type Refused, type TranscodeOptions, transcode } from './transcode.ts';
import type { Transcoded } from './wire/batch.ts';

/** Messages between the server and the thread. */
export interface ThreadRequest {
  id: number;
  request: OtlpRequest;
  options: TranscodeOptions;
}

export type ThreadReply = { id: number; result: Transcoded | Refused } | { id: number; error: string };

parentPort?.on('message', ({ id, request, options }: ThreadRequest) => {
  try {
    const result = transcode(request, options);
    const buffers = 'rows' in result ? result.rows.map(({ bytes }) => bytes.buffer as ArrayBuffer) : [];
    parentPort?.postMessage({ id, result } satisfies ThreadReply, buffers);
  } catch (error) {
    parentPort?.postMessage({ id, error: (error as Error).stack ?? String(error) } satisfies ThreadReply);
  }
});
