import type { Socket } from 'node:net';
import { renderText, renderVarint } from '../../../platform/listener/native-hello.ts';
import { type Exception, getExceptionCode } from '../exceptions.ts';
import type { ProxyLimits } from '../limits.ts';

const EXCEPTION = 2;
const NAME = 'DB::Exception';

/** The packet that ClickHouse sends instead of its own hello, and that clients show. */
export function renderException({ name, text }: Exception): Buffer {
  const code = Buffer.alloc(4);
  code.writeInt32LE(getExceptionCode(name));
  const isNested = Buffer.from([0]);
  return Buffer.concat([
    renderVarint(EXCEPTION),
    code,
    renderText(NAME),
    renderText(`${NAME}: ${text}. (${name})`),
    renderText(''),
    isNested,
  ]);
}

export const HTTP_ANSWER =
  'HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=UTF-8\r\nConnection: close\r\n\r\n' +
  'This port is for the native protocol of ClickHouse. The service has another port for HTTP.\n';

/**
 * Sends the last bytes to a client, and reads what it still sends, up to a limit: closing the connection at once would
 * make it miss them.
 */
export function endClient(client: Socket, last: Buffer | string, { maxRejectedBytes, rejectedMs }: ProxyLimits): void {
  const timer = setTimeout(() => client.destroy(), rejectedMs);
  let bytes = 0;
  client.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxRejectedBytes) client.destroy();
  });
  client.once('close', () => clearTimeout(timer));
  client.end(last);
  client.resume();
}
