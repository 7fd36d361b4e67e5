import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/time/clock.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import { createProxy } from './proxy.ts';

/** How much of the end waits in the proxy when ClickHouse closes the connection differs from round to round. */
const ROUNDS = 8;
const CHUNK = Buffer.alloc(1024 * 1024, 'x');
/** More than the buffers of the connections hold. */
const CHUNKS = 8;
const READ_BYTES = 4096;
const REASON = 'Code: 395. DB::Exception: in the middle of the result';

/** Answers as ClickHouse does when a query fails after the first rows: with the reason and a closed connection. */
function answerWithFailure(response: ServerResponse): void {
  response.writeHead(200);
  let sent = 0;
  const send = () => {
    while (sent++ < CHUNKS) if (!response.write(CHUNK)) return void response.once('drain', send);
    response.write(REASON);
    response.socket?.destroySoon();
  };
  send();
}

/** Reads a little in each turn of the event loop, so that the proxy always has to wait. Returns the last bytes. */
function readSlowly(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let end = '';
    const callback = (size: number, buffer: Uint8Array) => {
      end = (end + Buffer.from(buffer.subarray(0, size)).toString('latin1')).slice(-2 * REASON.length);
      socket.pause();
      setImmediate(() => socket.resume());
      return true;
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(READ_BYTES), callback } });
    socket.once('error', reject).once('close', () => resolve(end));
    socket.write('GET /?query=SELECT&password=right HTTP/1.1\r\nHost: a\r\n\r\n');
  });
}

describe('a response that ClickHouse cuts', () => {
  const proxy = createProxy({
    clock: systemClock,
    log: { debug() {}, warn() {} },
    host: '127.0.0.1',
    wake: async () => {},
    attempts: { run: async (_address, _credential, authenticate) => authenticate() },
    ignoredAgents: [],
    ignoredStatements: [],
  });
  const upstream = createHttpServer((request, response) => {
    request.resume();
    answerWithFailure(response);
  });
  let port: number;
  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const access = { username: 'default', passwordHash: hashSecret('right'), ipAccessList: [] } as const;
    port = await proxy.open({ id: 'service', port: 0, state: 'running', ...access });
    const { port: target } = upstream.address() as AddressInfo;
    proxy.setUpstream('service', { host: '127.0.0.1', port: target, headers: {} });
  });
  afterAll(async () => {
    await proxy.closeAll();
    upstream.close();
  });

  it('reaches a slow client with the reason, and does not look complete', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const end = await readSlowly(port);
      expect(end, `round ${round}`).toContain(REASON);
      expect(end).not.toMatch(/\r\n0\r\n\r\n$/);
    }
  });
});
