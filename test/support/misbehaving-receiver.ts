import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** What the server does with a request, by the first part of its path. */
const BEHAVIOURS: Record<string, (response: ServerResponse) => void> = {
  hang() {},
  'hang-after-head': (response) => void response.writeHead(200).write('some'),
  'redirect-to-private': (response) => void response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
  'too-many': (response) => void response.writeHead(429, { 'retry-after': '120' }).end('slow down'),
  unavailable: (response) => void response.writeHead(503, { 'retry-after': '999999999' }).end(),
  endless(response) {
    response.writeHead(200);
    const write = (): void => {
      while (response.write(CHUNK));
      response.once('drain', write);
    };
    write();
  },
};

/** A receiver of webhooks that behaves badly. Use it inside tests and hooks only. */
export function useMisbehavingReceiver() {
  const receiver = { url: '', paths: [] as string[] };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    receiver.paths.push(path);
    request.resume();
    response.on('error', () => {});
    BEHAVIOURS[path.split('/')[1] ?? '']?.(response);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}
