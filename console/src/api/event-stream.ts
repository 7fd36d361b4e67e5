import { openStream, type StreamRequest } from './open-stream.ts';

interface Stream extends StreamRequest {
  onOpen: () => void;
  onEvent: (type: string, data: unknown) => void;
}

/** Reads server-sent events until the server ends the stream. EventSource cannot send a body or a CSRF token. */
export async function readEventStream({ onOpen, onEvent, ...request }: Stream): Promise<void> {
  const chunks = await openStream(request, 'text/event-stream');
  onOpen();
  let text = '';
  for await (const chunk of chunks) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, type] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (type !== undefined && data !== undefined) onEvent(type, JSON.parse(data));
    }
  }
}
