import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server that receives webhooks. */
interface Receiver {
  url: string;
  /** All requests, oldest first. */
  received: ReceivedRequest[];
  /** The status of further responses; initially 204. */
  status: number;
}

/** Starts one for all tests of the surrounding `describe`. Use it inside tests and hooks only. */
export function useReceiver(): Receiver {
  const receiver: Receiver = { url: '', received: [], status: 204 };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      receiver.received.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(receiver.status, receiver.status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=in-the-address`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}
