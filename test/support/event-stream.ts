import type { Json } from './client.ts';

interface StreamedEvent {
  type: string;
  data: Json;
}

/** Opens a stream of server-sent events. Must be closed. */
export async function openEventStream(url: string, headers: Record<string, string>, body: object) {
  const controller = new AbortController();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify(body),
    signal: controller.signal,
  });
  const events: StreamedEvent[] = [];
  const read = async () => {
    let text = '';
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, type] = /^event: (.*)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (type !== undefined && data !== undefined) events.push({ type, data: JSON.parse(data) });
      }
    }
  };
  const ended = response.ok ? read().catch(() => {}) : Promise.resolve();
  return {
    response,
    events,
    ended,
    listRows: (): Json[] => events.filter(({ type }) => type === 'rows').flatMap(({ data }) => data.data),
    async close() {
      controller.abort();
      await ended;
    },
  };
}
