import { createHash, randomBytes } from 'node:crypto';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { AUTHORIZATION, openTestProxy, openUpstream } from '../../../test/support/proxy.ts';
import { head, openRawConnection } from '../../../test/support/raw.ts';
import { until } from '../../../test/support/until.ts';

async function openPair(respond: (incoming: IncomingMessage, response: ServerResponse) => void) {
  const upstream = await openUpstream(respond);
  const proxy = await openTestProxy();
  proxy.setUpstream(upstream.upstream);
  return { ...proxy, upstream };
}

describe('responses', () => {
  it('status, headers and bytes are those of ClickHouse, compressed ones too', async () => {
    const body = gzipSync('x'.repeat(1000));
    const { send } = await openPair((_, response) => {
      response.writeHead(404, 'Gone Missing', {
        'X-ClickHouse-Summary': '{"read_rows":"1"}',
        'X-ClickHouse-Query-Id': 'q',
        'Content-Encoding': 'gzip',
        'Keep-Alive': 'timeout=77',
      });
      response.end(body);
    });
    const reply = await send();
    expect(reply.status).toBe(404);
    expect(reply.headers).toMatchObject({
      'x-clickhouse-summary': '{"read_rows":"1"}',
      'x-clickhouse-query-id': 'q',
      'content-encoding': 'gzip',
    });
    expect(reply.headers['keep-alive']).not.toBe('timeout=77');
    expect(Number(reply.headers['content-length'])).toBe(body.length);
  });

  it('a HEAD request has a head only', async () => {
    const { send } = await openPair((_, response) => response.writeHead(200, { 'X-ClickHouse-Format': 'TSV' }).end());
    expect(await send({ method: 'HEAD' })).toMatchObject({
      status: 200,
      text: '',
      headers: { 'x-clickhouse-format': 'TSV' },
    });
  });

  it('trailers are forwarded', async () => {
    const { send } = await openPair((_, response) => {
      response.writeHead(200, { Trailer: 'X-ClickHouse-End, Set-Cookie' });
      response.write('body');
      response.addTrailers({ 'X-ClickHouse-End': 'yes', 'Set-Cookie': 'a=b' });
      response.end();
    });
    expect(await send()).toMatchObject({ text: 'body', trailers: { 'x-clickhouse-end': 'yes' } });
    expect((await send()).trailers).not.toHaveProperty('set-cookie');
  });

  it('what has arrived is sent while the rest is computed', async () => {
    let finish = () => {};
    const { port } = await openPair((_, response) => {
      response.write('first');
      finish = () => response.end('last');
    });
    const text = await new Promise<string>((resolve, reject) => {
      const outgoing = request({ port, path: '/?query=SELECT+2', headers: { authorization: AUTHORIZATION } });
      outgoing.once('error', reject).end();
      outgoing.once('response', (incoming: IncomingMessage) => {
        let received = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          received += chunk;
          if (received === 'first') finish();
        });
        incoming.once('end', () => resolve(received));
      });
    });
    expect(text).toBe('firstlast');
  });

  it.each(['chunked', 'with a length'])('one that is cut ends the connection, %s', async (form) => {
    const { send, untilRunning } = await openPair((_, response) => {
      if (form !== 'chunked') response.setHeader('Content-Length', '1000000');
      response.write('x'.repeat(100_000), () => response.destroy());
    });
    await expect(send()).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    await untilRunning(0);
  });

  it('a slow client slows ClickHouse down', async () => {
    const size = 64 * 1024 * 1024;
    let written = 0;
    const { port, untilRunning } = await openPair((_, response) => {
      const chunk = Buffer.alloc(256 * 1024);
      const write = () => {
        while (written < size) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    });
    const connection = await openRawConnection(`http://127.0.0.1:${port}`);
    connection.socket.pause();
    connection.send(head('GET /?query=SELECT+2 HTTP/1.1', 'Host: x', `Authorization: ${AUTHORIZATION}`));
    // Nothing more is written once all buffers between the two are full.
    let before = -1;
    await until(
      async () => written,
      (now) => {
        const isStalled = now > 0 && now === before;
        before = now;
        return isStalled;
      },
      'the upstream does not stall',
    );
    expect(written).toBeLessThan(size);
    connection.socket.destroy();
    await untilRunning(0);
  });
});

describe('bodies', () => {
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const respondDigest = (incoming: IncomingMessage, response: ServerResponse) => {
    const hash = createHash('sha256');
    incoming.on('data', (chunk: Buffer) => hash.update(chunk)).on('end', () => response.end(hash.digest('hex')));
  };

  it.each([
    ['small', 10],
    ['large', 5_000_000],
  ])('%s ones arrive unchanged, with a length, in chunks or after 100 Continue', async (_, size) => {
    const { send } = await openPair(respondDigest);
    const body = randomBytes(size);
    const forms: Record<string, string>[] = [{}, { 'transfer-encoding': 'chunked' }, { expect: '100-continue' }];
    for (const headers of forms)
      expect(await send({ method: 'POST', path: '/?query=INSERT', body, headers })).toMatchObject({
        text: digest(body),
      });
  });

  it('an empty body in chunks is a body', async () => {
    const { send } = await openPair(respondDigest);
    const reply = await send({ method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
    expect(reply.text).toBe(digest(Buffer.alloc(0)));
  });

  it('one that does not begin is rejected', async () => {
    const upstream = await openUpstream();
    const { url, setUpstream } = await openTestProxy({ limits: { bodyMs: 20 } });
    setUpstream(upstream.upstream);
    const connection = await openRawConnection(url);
    connection.send(head('POST / HTTP/1.1', 'Host: x', `Authorization: ${AUTHORIZATION}`, 'Content-Length: 5'));
    expect(await connection.response()).toMatchObject({ status: 408 });
    connection.socket.destroy();
    expect(upstream.requests).toEqual([]);
  });

  it('an upload that its client cuts is cut for ClickHouse', async () => {
    let outcome = '';
    const { url, untilRunning } = await openPair((incoming) => {
      incoming
        .on('data', () => {})
        .on('end', () => {
          outcome = 'complete';
        });
      incoming.once('close', () => {
        outcome ||= 'cut';
      });
    });
    const connection = await openRawConnection(url);
    connection.send(
      head('POST /?query=INSERT HTTP/1.1', 'Host: x', `Authorization: ${AUTHORIZATION}`, 'Transfer-Encoding: chunked'),
    );
    connection.send('3\r\nabc\r\n');
    await untilRunning(1);
    connection.socket.destroy();
    await untilRunning(0);
    await until(async () => outcome, Boolean, 'the upload does not end');
    expect(outcome).toBe('cut');
  });
});

describe('a client that leaves', () => {
  it('its query is canceled in ClickHouse, by its id', async () => {
    const { send, untilRunning, upstream } = await openPair(() => {});
    const abort = new AbortController();
    const reply = send({ path: "/?query=SELECT+2&query_id=a%5C'b%09", signal: abort.signal });
    await untilRunning(1);
    abort.abort();
    await expect(reply).rejects.toThrow();
    await untilRunning(0);
    expect(upstream.killed).toEqual(["a\\\\'b\\t"]);
  });

  it('in the middle of a response, too', async () => {
    const { send, untilRunning, upstream } = await openPair((_, response) => response.write('x'.repeat(100_000)));
    const abort = new AbortController();
    const reply = send({ signal: abort.signal });
    await until(
      async () => upstream.requests.length,
      (count) => count === 1,
      'the query does not arrive',
    );
    abort.abort();
    await expect(reply).rejects.toThrow();
    await untilRunning(0);
    expect(upstream.killed).toHaveLength(1);
  });

  it('a query that was answered is not canceled', async () => {
    const { send, untilRunning, upstream } = await openPair((_, response) => response.end('x'.repeat(100_000)));
    await send();
    await untilRunning(0);
    expect(upstream.killed).toEqual([]);
  });
});
