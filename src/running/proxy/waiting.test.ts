import { describe, expect, it } from 'vitest';
import { openTestProxy, openUpstream } from '../../../test/support/proxy.ts';
import { AppError } from '../../kernel/errors.ts';

describe('a query for a service that is not running', () => {
  it('wakes it once for all waiting clients, and is answered when it runs', async () => {
    const { upstream, requests } = await openUpstream();
    const { send, wakes, setUpstream, untilWaiting, getTraffic } = await openTestProxy();
    const replies = Array.from({ length: 100 }, (_, i) =>
      send({ path: `/?query=SELECT+${i}`, headers: { 'user-agent': 'tool' } }),
    );
    await untilWaiting(100);
    expect(wakes).toEqual([
      { address: '127.0.0.1', userAgent: 'tool', username: 'default', kind: 'SELECT', at: expect.any(Number) },
    ]);
    setUpstream(upstream);
    expect(new Set((await Promise.all(replies)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(requests).toHaveLength(100);
    expect(getTraffic()).toMatchObject({ waiting: 0, queries: 100, lastWake: wakes[0] });

    setUpstream(undefined);
    const next = send({ method: 'POST', path: '/', body: 'insert into t values (1)' });
    await untilWaiting(1);
    expect(wakes).toHaveLength(2);
    expect(wakes[1]).toMatchObject({ kind: 'INSERT' });
    setUpstream(upstream);
    expect((await next).status).toBe(200);
  });

  it('an ignored statement wakes it, too', async () => {
    const { upstream } = await openUpstream();
    const { send, wakes, setUpstream, untilWaiting } = await openTestProxy();
    const reply = send({ path: '/?query=SELECT+1' });
    await untilWaiting(1);
    expect(wakes).toHaveLength(1);
    setUpstream(upstream);
    expect((await reply).status).toBe(200);
  });

  it('is told why the service cannot be started', async () => {
    const { send } = await openTestProxy({
      wake: async () => {
        throw new AppError('conflict', 'The service is stopped; start it first');
      },
    });
    const [first, second] = await Promise.all([send(), send()]);
    for (const reply of [first, second]) {
      expect(reply).toMatchObject({ status: 503, headers: { 'x-clickhouse-exception-code': '279' } });
      expect(reply?.text).toContain('The service is stopped; start it first');
      expect(Number(reply?.headers['retry-after'])).toBeGreaterThan(0);
    }
  });

  it('waits for further attempts if the service fails to start', async () => {
    const { upstream } = await openUpstream();
    let attempts = 0;
    const { send, setUpstream, untilWaiting } = await openTestProxy({
      wake: async () => {
        attempts++;
        if (attempts < 3) throw new AppError('unavailable', `attempt ${attempts} failed`);
        setUpstream(upstream);
      },
    });
    const replies = Array.from({ length: 50 }, () => send());
    await untilWaiting(50);
    expect(new Set((await Promise.all(replies)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(attempts).toBe(3);
  });

  it('is told why the last attempt failed when its time is over', async () => {
    const { send } = await openTestProxy({
      limits: { waitMs: 500 },
      wake: async () => {
        throw new AppError('unavailable', 'The service did not start: the disk is full');
      },
    });
    const { status, text } = await send();
    expect(status).toBe(503);
    expect(text).toContain(
      'was not ready within 1 s. The last attempt to start it failed: The service did not start: the disk is full',
    );
  });

  it('an unexpected failure is not sent to clients', async () => {
    const { send } = await openTestProxy({
      wake: async () => {
        throw new Error('a detail');
      },
    });
    const reply = await send();
    expect(reply.status).toBe(503);
    expect(reply.text).not.toContain('a detail');
  });

  it('is rejected when the service does not start in time', async () => {
    const { send, getTraffic } = await openTestProxy({ limits: { waitMs: 20 } });
    const reply = await send({ method: 'POST', path: '/', body: 'SELECT 2' });
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(getTraffic().waiting).toBe(0);
  });

  it('is rejected at once when too many wait', async () => {
    const { send, setUpstream, untilWaiting } = await openTestProxy({ limits: { maxWaiting: 3 } });
    const { upstream } = await openUpstream();
    const waiting = Array.from({ length: 3 }, () => send());
    await untilWaiting(3);
    expect(await send()).toMatchObject({ status: 503, headers: { 'x-clickhouse-exception-code': '202' } });
    setUpstream(upstream);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('is forgotten when its client leaves', async () => {
    const { send, setUpstream, untilWaiting } = await openTestProxy();
    const { upstream, requests } = await openUpstream();
    const abort = new AbortController();
    const reply = send({ signal: abort.signal });
    await untilWaiting(1);
    abort.abort();
    await expect(reply).rejects.toThrow();
    await untilWaiting(0);
    setUpstream(upstream);
    expect(requests).toEqual([]);
  });

  it('is rejected when the endpoint is closed', async () => {
    const { send, proxy, service, untilWaiting } = await openTestProxy();
    const reply = send();
    await untilWaiting(1);
    await proxy.close(service.id);
    expect((await reply).status).toBe(503);
  });

  it('a large body is not read while its query waits', async () => {
    const { upstream } = await openUpstream((incoming, response) => {
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      incoming.on('end', () => response.end(String(bytes)));
    });
    const { send, setUpstream, untilWaiting, getTraffic, untilRunning } = await openTestProxy();
    const size = 32 * 1024 * 1024;
    const reply = send({ method: 'POST', path: '/?query=INSERT+INTO+t', body: Buffer.alloc(size) });
    await untilWaiting(1);
    setUpstream(upstream);
    expect((await reply).text).toBe(String(size));
    await untilRunning(0);
    expect(getTraffic().receivedBytes).toBeGreaterThan(size);
  });
});

describe('holding queries', () => {
  it('running ones finish, new ones wait for the release and go to the new upstream', async () => {
    let finish = () => {};
    const first = await openUpstream((_, response) => {
      finish = () => response.end('first');
    });
    const second = await openUpstream((_, response) => response.end('second'));
    const { proxy, service, send, setUpstream, untilRunning, untilWaiting, wakes } = await openTestProxy();
    setUpstream(first.upstream);
    const running = send();
    await untilRunning(1);
    const held = proxy.hold(service.id, 60_000);
    const waiting = send();
    await untilWaiting(1);
    finish();
    expect(await held).toBe(true);
    expect((await running).text).toBe('first');
    setUpstream(undefined);
    setUpstream(second.upstream);
    expect(second.requests).toEqual([]);
    proxy.release(service.id);
    expect((await waiting).text).toBe('second');
    expect(wakes).toEqual([]);
  });

  it('those that do not finish in time are canceled', async () => {
    const { upstream, killed } = await openUpstream(() => {});
    const { proxy, service, send, setUpstream, untilRunning, getTraffic } = await openTestProxy();
    setUpstream(upstream);
    const reply = send({ path: '/?query=SELECT+2&query_id=long' });
    await untilRunning(1);
    expect(getTraffic().runningQueries).toEqual([
      { id: 'long', since: expect.any(Number), userAgent: '', kind: 'SELECT' },
    ]);
    const outcome = proxy.hold(service.id, 20);
    await expect(reply).rejects.toThrow();
    expect(await outcome).toBe(false);
    await untilRunning(0);
    expect(killed).toEqual(['long']);
  });

  it('without queries it is immediate, and a release of an idle service wakes it for those that wait', async () => {
    const { upstream } = await openUpstream();
    const { proxy, service, send, setUpstream, untilWaiting, wakes } = await openTestProxy();
    setUpstream(upstream);
    expect(await proxy.hold(service.id, 0)).toBe(true);
    const reply = send();
    await untilWaiting(1);
    setUpstream(undefined);
    expect(wakes).toEqual([]);
    proxy.release(service.id);
    expect(wakes).toHaveLength(1);
    setUpstream(upstream);
    expect((await reply).status).toBe(200);
  });
});

describe('an upstream that is gone', () => {
  it('a query that was not sent waits for the next one, inserts included', async () => {
    const gone = await openUpstream();
    await gone.close();
    const next = await openUpstream();
    const { send, setUpstream, untilWaiting, wakes } = await openTestProxy();
    setUpstream(gone.upstream);
    const body = Buffer.alloc(1024 * 1024, 'x');
    const replies = [send(), send({ method: 'POST', path: '/?query=INSERT+INTO+t', body })];
    await untilWaiting(2);
    expect(wakes).toHaveLength(1);
    setUpstream(next.upstream);
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it.each([
    ['a read', { path: '/?query=SELECT+2' }],
    ['a read in a body', { method: 'POST', path: '/', body: 'SELECT 2' }],
  ])('%s that was sent and not answered is repeated', async (_, call) => {
    const dying = await openUpstream((incoming) => incoming.socket.destroy());
    const next = await openUpstream();
    const { send, setUpstream, untilWaiting } = await openTestProxy();
    setUpstream(dying.upstream);
    const reply = send(call);
    await untilWaiting(1);
    setUpstream(next.upstream);
    expect(await reply).toMatchObject({ status: 200, text: '2\n' });
    expect(dying.requests).toHaveLength(1);
  });

  it('an insert that may have been executed is not repeated', async () => {
    const dying = await openUpstream((incoming) => incoming.socket.destroy());
    const { send, setUpstream } = await openTestProxy();
    setUpstream(dying.upstream);
    const reply = await send({ method: 'POST', path: '/', body: 'INSERT INTO t VALUES (1)' });
    expect(reply).toMatchObject({ status: 502, headers: { 'x-clickhouse-exception-code': '210' } });
    expect(dying.requests).toHaveLength(1);
  });
});
