import { describe, expect, it } from 'vitest';
import { NO_CREDENTIALS, openTestProxy, openUpstream, PASSWORD } from '../../../test/support/proxy.ts';
import { AppError } from '../../kernel/errors.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import { createAttemptLimit } from '../../platform/http/limits/attempt-limit.ts';

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const key = encodeURIComponent(PASSWORD);

async function openPair(options?: Parameters<typeof openTestProxy>[0]) {
  const upstream = await openUpstream();
  const proxy = await openTestProxy(options);
  proxy.setUpstream(upstream.upstream);
  return { ...proxy, upstream };
}

describe('the password of a service', () => {
  it.each([
    ['Basic', { headers: basic(`default:${PASSWORD}`) }],
    [
      'Basic in lower case',
      { headers: { authorization: basic(`default:${PASSWORD}`).authorization.replace('B', 'b') } },
    ],
    ['headers', { headers: { ...NO_CREDENTIALS, 'x-clickhouse-user': 'default', 'x-clickhouse-key': PASSWORD } }],
    ['parameters', { headers: NO_CREDENTIALS, path: `/?query=SELECT+2&user=default&password=${key}` }],
    ['a parameter without a user', { headers: NO_CREDENTIALS, path: `/?query=SELECT+2&password=${key}` }],
    ['parameters that replace Basic', { headers: basic('x:y'), path: `/?query=SELECT+2&user=default&password=${key}` }],
  ])('is accepted by %s', async (_, call) => {
    const { send } = await openPair();
    expect(await send(call)).toMatchObject({ status: 200, text: '2\n' });
  });

  it.each([
    ['a wrong password', { headers: basic('default:wrong') }, 401, 194, 'default: Authentication failed'],
    ['no password', { headers: NO_CREDENTIALS }, 401, 194, 'default: Authentication failed'],
    ['another user', { headers: basic(`inner:${PASSWORD}`) }, 403, 516, 'inner: Authentication failed'],
    ['an empty user', { headers: basic(`:${PASSWORD}`) }, 403, 516, ': Authentication failed'],
    ['a user in the URL', { path: '/?query=SELECT+2&user=inner' }, 403, 516, 'inner: Authentication failed'],
    [
      'a wrong password in the URL',
      { path: '/?query=SELECT+2&password=x' },
      401,
      194,
      'default: Authentication failed',
    ],
    [
      'two ways',
      { headers: { 'x-clickhouse-user': 'default', 'x-clickhouse-key': PASSWORD } },
      403,
      516,
      'simultaneously',
    ],
    [
      'a key without a user',
      { headers: { ...NO_CREDENTIALS, 'x-clickhouse-key': PASSWORD } },
      403,
      516,
      'empty user name',
    ],
    ['another scheme', { headers: { authorization: 'Bearer x' } }, 403, 516, "'Bearer' HTTP Authorization scheme"],
    ['line breaks in a name', { headers: basic('a\r\nx: y:z') }, 403, 516, 'a??x'],
  ])('is not replaced by %s: rejected as by ClickHouse, without waking', async (_, call, status, code, text) => {
    const { send, wakes } = await openTestProxy();
    const reply = await send(call);
    expect(reply).toMatchObject({ status, headers: { 'x-clickhouse-exception-code': String(code) } });
    expect(reply.text).toContain(`Code: ${code}. DB::Exception: `);
    expect(reply.text).toContain(text);
    expect(wakes).toEqual([]);
  });

  it('an empty password is rejected even if its hash is stored', async () => {
    const { send } = await openPair({ service: { passwordHash: hashSecret('') } });
    expect((await send({ headers: basic('default:') })).status).toBe(401);
  });

  it('failed attempts from an address are limited, right passwords included', async () => {
    const attempts = createAttemptLimit(systemClock);
    const { send, wakes } = await openTestProxy({ attempts });
    const fail = () => {
      throw new AppError('unauthorized', 'elsewhere');
    };
    for (let i = 0; i < 299; i++) await expect(attempts.run('127.0.0.1', `${i}`, fail)).rejects.toThrow('elsewhere');
    expect((await send({ headers: basic('default:wrong') })).status).toBe(401);
    const reply = await send();
    expect(reply).toMatchObject({ status: 429, headers: { 'x-clickhouse-exception-code': '364' } });
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(wakes).toEqual([]);
  });

  it('a new password applies at once', async () => {
    const { proxy, service, send } = await openPair();
    proxy.update({ ...service, passwordHash: hashSecret('new') });
    expect((await send()).status).toBe(401);
    expect((await send({ headers: basic('default:new') })).status).toBe(200);
  });
});

describe('the IP access list', () => {
  it('is checked before the password, and for every request', async () => {
    const { proxy, service, send } = await openPair({ service: { ipAccessList: [{ source: '10.0.0.0/8' }] } });
    for (const call of [{}, { headers: NO_CREDENTIALS }, { path: '/ping' }])
      expect(await send(call)).toMatchObject({ status: 403, headers: { 'x-clickhouse-exception-code': '195' } });
    proxy.update({ ...service, ipAccessList: [{ source: '10.0.0.0/8' }, { source: '127.0.0.0/8' }] });
    expect((await send()).status).toBe(200);
  });

  it('a list without a valid entry matches no address', async () => {
    const { send } = await openPair({ service: { ipAccessList: [{ source: 'anywhere' }] } });
    expect((await send()).status).toBe(403);
  });
});

describe('what the proxy answers itself', () => {
  it.each([
    ['GET', '/ping', 200, 'Ok.\n'],
    ['HEAD', '/ping', 200, ''],
    ['GET', '/replicas_status', 200, 'Ok.\n'],
    ['GET', '/', 200, 'Ok.\n'],
    ['OPTIONS', '/?query=SELECT+1', 204, ''],
    ['DELETE', '/?query=SELECT+1', 501, 'The method is not supported'],
    ['GET', '/play', 404, 'There is no handle /play'],
    ['GET', '/dashboard?query=SELECT+1', 404, 'There is no handle /dashboard'],
    ['POST', '//?query=SELECT+1', 404, 'There is no handle //'],
  ])('%s %s: %i, without credentials and without waking', async (method, path, status, text) => {
    const { send, wakes } = await openTestProxy();
    const reply = await send({ method, path, headers: NO_CREDENTIALS });
    expect(reply.status).toBe(status);
    expect(reply.text.startsWith(text)).toBe(true);
    expect(wakes).toEqual([]);
  });

  it('a health check of an idle service says so, and one of a stopped service fails', async () => {
    const { proxy, service, send, wakes } = await openTestProxy({ service: { state: 'idle' } });
    for (const path of ['/ping', '/', '/replicas_status'])
      expect(await send({ path, headers: NO_CREDENTIALS })).toMatchObject({
        status: 200,
        text: 'Ok.\n',
        headers: { 'x-pilothouse-service-state': 'idle' },
      });
    proxy.update({ ...service, state: 'stopped' });
    for (const path of ['/ping', '/', '/replicas_status'])
      expect(await send({ path, headers: NO_CREDENTIALS })).toMatchObject({
        status: 503,
        text: expect.stringContaining('The service is stopped; start it to run queries'),
        headers: { 'x-pilothouse-service-state': 'stopped', 'x-clickhouse-exception-code': '279' },
      });
    proxy.update({ ...service, state: 'running' });
    expect((await send({ path: '/ping' })).headers).not.toHaveProperty('x-pilothouse-service-state');
    expect(wakes).toEqual([]);
  });

  it('a port in use is a conflict that names it', async () => {
    const { proxy, port, service } = await openTestProxy();
    await expect(proxy.open({ ...service, id: 'other', port })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`port ${port}`),
    });
    await proxy.close(service.id);
    expect(await proxy.open({ ...service, id: 'other', port })).toBe(port);
  });
});

describe('what is forwarded', () => {
  it('the headers of the upstream replace credentials and headers of the same name', async () => {
    const { send, upstream } = await openPair();
    await send({
      path: `/?session_id=s&query=SELECT+2&user=default&password=${key}&query_id=mine&quota_key=q`,
      headers: {
        'x-door': 'guess',
        'x-forwarded-for': '1.2.3.4',
        connection: 'x-secret, close',
        'x-secret': 'a',
        'x-kept': 'b',
      },
    });
    const [received] = upstream.requests;
    expect(received?.url).toBe('/?session_id=s&query=SELECT+2&query_id=mine&quota_key=q');
    expect(received?.headers).toMatchObject({
      'x-door': 'secret of the upstream',
      'x-clickhouse-user': 'inner',
      'x-clickhouse-key': 'inner key',
      'x-forwarded-for': '127.0.0.1',
      'x-kept': 'b',
    });
    expect(received?.headers).not.toHaveProperty('authorization');
    expect(received?.headers).not.toHaveProperty('x-secret');
    expect(received?.rawHeaders.filter((name) => name.toLowerCase() === 'x-door')).toHaveLength(1);
  });

  it('a query without an id gets one, so that it can be canceled', async () => {
    const { send, upstream } = await openPair();
    await send();
    expect(upstream.requests[0]?.url).toMatch(/^\/\?query_id=[0-9a-f-]{36}&query=SELECT\+2$/);
  });

  it('a body is forwarded with its length, and a POST without a body has none', async () => {
    const { send, upstream } = await openPair();
    await send({ method: 'POST', path: '/', body: 'SELECT 3' });
    await send({ method: 'POST' });
    expect(upstream.requests.map(({ headers }) => headers['content-length'])).toEqual(['8', '0']);
  });
});

describe('what counts as use', () => {
  it.each([
    ['a statement in the URL', { path: '/?query=select%201%3B' }, true],
    ['a statement in the body', { method: 'POST', path: '/', body: ' SELECT\n1;\n' }, true],
    ['a user agent', { path: '/?query=SELECT+3', headers: { 'user-agent': 'probe/2.1' } }, true],
    ['another statement', { path: '/?query=SELECT+11' }, false],
    ['the statement with data after it', { method: 'POST', path: '/?query=SELECT+1', body: '1' }, false],
    [
      'a compressed body',
      { method: 'POST', path: '/', body: 'SELECT 1', headers: { 'content-encoding': 'gzip' } },
      false,
    ],
  ])('%s', async (_, call, isIgnored) => {
    const { send, getTraffic } = await openPair();
    expect((await send(call)).status).toBe(200);
    const traffic = getTraffic();
    expect(traffic).toMatchObject({ queries: 1, ignoredQueries: isIgnored ? 1 : 0, lastQueryAt: expect.any(Number) });
    expect('lastCountedQueryAt' in traffic).toBe(!isIgnored);
  });

  it('bytes of queries are counted in both directions, those of rejected requests are not', async () => {
    const { send, getTraffic, untilRunning } = await openPair();
    await send({ method: 'POST', path: '/', body: 'wrong'.repeat(1000), headers: basic('default:wrong') });
    await send({ path: '/ping' });
    expect(getTraffic()).toMatchObject({ receivedBytes: 0, sentBytes: 0, queries: 0 });
    await send({ method: 'POST', path: '/?query=INSERT', body: 'x'.repeat(10_000) });
    await untilRunning(0);
    const { receivedBytes, sentBytes } = getTraffic();
    expect(receivedBytes).toBeGreaterThan(10_000);
    expect(receivedBytes).toBeLessThan(11_000);
    expect(sentBytes).toBeGreaterThan(50);
  });
});
