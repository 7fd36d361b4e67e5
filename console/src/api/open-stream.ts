import { createUnreachableError, toApiError } from './errors.ts';
import { readJson } from './read-json.ts';
import type { SessionStore } from './session.ts';

export interface StreamRequest {
  base: string;
  sessions: SessionStore;
  path: string;
  body: object;
  signal: AbortSignal;
}

/** Sends a request and returns the text of its response as it arrives. Ends the request if the reader stops earlier. */
export async function openStream(
  { base, sessions, path, body, signal }: StreamRequest,
  accept: string,
): Promise<AsyncGenerator<string, void>> {
  const request = () =>
    fetch(`${base}${path}`, {
      method: 'POST',
      headers: {
        accept: `${accept}, application/json`,
        'content-type': 'application/json',
        'x-pilothouse-csrf': sessions.csrf() ?? '',
      },
      credentials: 'same-origin',
      body: JSON.stringify(body),
      signal,
    }).catch((error) => {
      throw signal.aborted ? error : createUnreachableError();
    });
  let response = await request();
  if (response.status === 401 && (await sessions.renew())) response = await request();
  if (response.status === 401) sessions.end();
  if (!response.ok || !response.body)
    throw toApiError(response.status, await readJson(response), response.headers.get('x-request-id') ?? undefined);
  return readText(response.body, signal);
}

async function* readText(body: ReadableStream<Uint8Array<ArrayBuffer>>, signal: AbortSignal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw signal.aborted ? error : createUnreachableError();
      });
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
