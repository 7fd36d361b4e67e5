import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { readFromServer } from './local-server.ts';

it('a response of a server on this machine has a size limit', async () => {
  const server = createServer((request, response) => {
    const chunk = Buffer.alloc(2 ** 20);
    for (let sent = 0; sent < Number(request.url?.slice(1)); sent++) response.write(chunk);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const read = (megabytes: number) => {
    const { port } = server.address() as AddressInfo;
    return readFromServer({ host: '127.0.0.1', tlsCertFile: undefined }, `http://127.0.0.1:${port}/${megabytes}`);
  };
  expect((await read(16)).text).toHaveLength(16 * 2 ** 20);
  await expect(read(17)).rejects.toThrow('The response is larger than 16777216 bytes');
  server.closeAllConnections();
  server.close();
});
