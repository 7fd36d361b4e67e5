import { createUnreachableError, toApiError } from './errors.ts';
import { readJson } from './read-json.ts';
import type { SessionStore } from './session.ts';

interface Stream {
  base: string;
  sessions: SessionStore;
  path: string;
  body: object;
  signal: AbortSignal;
  onOpen: () => void;
  onEvent: (type: string, data: unknown) => void;
}

/** Reads server-sent events until the server ends the stream. EventSource cannot send a body or a CSRF token. */
export async function readEventStream({ base, sessions, path, body, signal, onOpen, onEvent }: Stream): Promise<void> {
  const request = () =>
    fetch(`${base}${path}`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream, application/json',
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
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw signal.aborted ? error : createUnreachableError();
    });
    if (done) return;
    const blocks = (text + value).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, type] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (type !== undefined && data !== undefined) onEvent(type, JSON.parse(data));
    }
  }
}
