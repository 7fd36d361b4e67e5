import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { useCertificateFiles } from '../../../../test/support/certificates.ts';
import { useEmbeddedServices } from '../../../../test/support/embedded-services.ts';
import {
  connectNative,
  EMPTY_BLOCK,
  NativeException,
  openNativeSocket,
  renderQuery,
} from '../../../../test/support/native-client.ts';
import { openTestProxy, PASSWORD } from '../../../../test/support/proxy.ts';
import { until } from '../../../../test/support/until.ts';
import type { NativeUpstream, Upstream } from '../../../management/services/driver.ts';
import { hashSecret } from '../../../platform/credentials/secrets.ts';
import { type Hello, renderHello, renderText } from '../../../platform/listener/native-hello.ts';
import { openCertificate } from '../../../platform/tls/certificate.ts';

// Starts the process of a service.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const services = useEmbeddedServices();
const service = services.createService();
let upstream: Upstream & { native: NativeUpstream };
let pid: unknown;

const observe = async () => {
  const observed = await services.observe(service);
  if (!observed.upstream?.native) expect.fail('the process does not listen for the native protocol');
  return { pid: observed.evidence?.pid, upstream: { ...observed.upstream, native: observed.upstream.native } };
};

beforeAll(async () => {
  await services.converge(service, 'running');
  ({ upstream, pid } = await observe());
});

type ProxyOptions = NonNullable<Parameters<typeof openTestProxy>[0]>;

/** An endpoint in front of the process. */
async function open(options: ProxyOptions & { isIdle?: boolean } = {}) {
  const { isIdle = false, ...own } = options;
  const opened = await openTestProxy(own);
  const port = await opened.proxy.openNative(opened.service.id, 0);
  if (!isIdle) opened.setUpstream(upstream);
  const connectAs = (hello: Partial<Hello> = {}) => connectNative({ port, password: PASSWORD, ...hello });
  return { ...opened, httpPort: opened.port, port, connectAs };
}

/** The exception that a client gets. */
const refuse = (connection: Promise<unknown>): Promise<NativeException> =>
  connection.then(
    () => expect.fail('the client was not rejected'),
    (error) => {
      if (!(error instanceof NativeException)) throw error;
      return error;
    },
  );

const isAlive = async () => (await services.query(service, 'SELECT 1')).text === '1' && (await observe()).pid === pid;

describe('the native endpoint of a service', () => {
  it('runs statements as the user of the process, in the database of the client', async () => {
    const { connectAs } = await open();
    await services.query(service, 'CREATE DATABASE IF NOT EXISTS d');
    const client = await connectAs({ database: 'd' });
    expect(await client.query('SELECT currentUser(), currentDatabase()')).toEqual([['owner', 'd']]);
    await client.query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await client.insert('t', 'n', [1, 2, 3]);
    expect(await client.query('SELECT count(), sum(n) FROM t')).toEqual([[3, 6]]);
    await client.ping();
    const failed = await refuse(client.query('SELECT nothing'));
    expect(failed.code).toBe(47);
    expect(await client.query('SELECT toUInt8(1)')).toEqual([[1]]);
    await client.close();
    expect((await refuse(connectAs({ database: 'missing' }))).code).toBe(81);
    expect(await isAlive()).toBe(true);
  });

  it('takes a hello that arrives byte by byte', async () => {
    const { port } = await open();
    const { socket, readVarint, readText } = openNativeSocket({ port });
    const hello = { clientName: 'slow', major: 24, minor: 8, database: '', user: 'default', password: PASSWORD };
    for (const byte of renderHello({ ...hello, revision: 54483 })) {
      socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect([await readVarint(), await readText()]).toEqual([0, 'ClickHouse']);
    socket.destroy();
  });

  it.each<[string, Partial<Hello>, number]>([
    ['a wrong password', { password: 'wrong' }, 194],
    ['no password', { password: '' }, 194],
    ['the user of the process', { user: 'owner' }, 516],
    ['a user of the control plane', { user: 'sql_admin', password: '' }, 516],
    ['no user', { user: '' }, 516],
    ['the secret of a cluster', { user: ' INTERSERVER SECRET ', password: '' }, 516],
    ['an SSH key', { user: ' SSH KEY AUTHENTICATION default', password: '' }, 516],
    ['a token', { user: ' JWT AUTHENTICATION ', password: 'e30.e30.' }, 516],
  ])('rejects %s, and wakes nothing', async (_, hello, code) => {
    const { connectAs, wakes, getTraffic } = await open({ isIdle: true });
    expect((await refuse(connectAs(hello))).code).toBe(code);
    expect([wakes, getTraffic()]).toMatchObject([[], { queries: 0, waiting: 0 }]);
  });

  it('rejects what is not a hello, and answers HTTP with text', async () => {
    const { port } = await open();
    const exchange = async (sent: string | Buffer) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(sent);
      await once(socket, 'close');
      return Buffer.concat(chunks).toString('latin1');
    };
    expect(await exchange('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toContain('The service has another port for HTTP');
    expect(await exchange(Buffer.from([22, 3, 1, 0, 5, 0, 0, 0]))).toContain('expected Hello, got 22');
    expect(await exchange(Buffer.from([0, 255, 255, 255, 255, 15]))).toContain('A text has 4294967295 bytes');
    expect(await exchange(Buffer.concat([Buffer.from([0, 128, 128, 128, 5]), Buffer.alloc(100_000)]))).toContain(
      'bytes',
    );
  });

  it('ends a connection without a hello', async () => {
    const { port } = await open({ limits: { headMs: 50 } });
    const { readVarint, readException } = openNativeSocket({ port });
    expect([await readVarint(), (await readException()).code]).toEqual([2, 209]);
  });

  it('applies the IP access list', async () => {
    const { connectAs, proxy, service: proxied } = await open({ service: { ipAccessList: [{ source: '192.0.2.1' }] } });
    expect((await refuse(connectAs())).code).toBe(195);
    proxy.update({ ...proxied, ipAccessList: [{ source: '127.0.0.0/8' }] });
    await (await connectAs()).close();
  });

  it('shares the limit of failed attempts with HTTP', async () => {
    const { connectAs, send } = await open();
    let code = 0;
    for (let attempt = 0; attempt < 310 && code !== 364; attempt++)
      if (attempt % 2) ({ code } = await refuse(connectAs({ password: `wrong ${attempt}` })));
      else await send({ headers: { authorization: `Basic ${btoa(`default:wrong ${attempt}`)}` } });
    expect(code).toBe(364);
    expect((await send({ headers: { authorization: `Basic ${btoa('default:another')}` } })).status).toBe(429);
  });

  it('closes connections that a changed password or access list rejects', async () => {
    const { connectAs, proxy, service: proxied } = await open();
    const first = await connectAs();
    proxy.update({ ...proxied, ipAccessList: [{ source: '127.0.0.1' }] });
    expect(await first.query('SELECT toUInt8(1)')).toEqual([[1]]);
    proxy.update({ ...proxied, ipAccessList: [{ source: '192.0.2.1' }] });
    await first.closed;
    proxy.update(proxied);
    const second = await connectAs();
    proxy.update({ ...proxied, passwordHash: hashSecret('another') });
    await second.closed;
    expect((await refuse(connectAs())).code).toBe(194);
  });

  it('checks a client that has waited once more', async () => {
    const { connectAs, proxy, service: proxied, setUpstream, untilWaiting } = await open({ isIdle: true });
    const waiting = refuse(connectAs());
    await untilWaiting(1);
    proxy.update({ ...proxied, passwordHash: hashSecret('another') });
    setUpstream(upstream);
    expect((await waiting).code).toBe(516);
  });

  it('limits the clients of the process', async () => {
    const { connectAs } = await open({ limits: { maxNativeClients: 1 } });
    const client = await connectAs();
    expect((await refuse(connectAs())).code).toBe(202);
    await client.close();
    await until(
      () => connectAs().catch(() => undefined),
      (next) => next !== undefined,
      'no connection is free',
    );
  });

  it('limits connections', async () => {
    const { port, connectAs } = await open({ limits: { maxConnections: 2 } });
    const [first, second] = [await connectAs(), await connectAs()];
    const third = connect(port, '127.0.0.1');
    third.on('error', () => {});
    await once(third, 'close');
    await first.close();
    await until(
      () => connectAs().catch(() => undefined),
      (client) => client !== undefined,
      'no connection is free',
    );
    await second.close();
  });
});

describe('a native client with the right password', () => {
  it('cannot become the user default, also by what it says about itself', async () => {
    const { connectAs } = await open();
    const client = await connectAs();
    // ClickHouse shows the name that the client claims, and uses the rights of the user that it authenticated.
    const claims = { kind: 2, initialUser: 'default' } as const;
    const user = "SELECT user FROM system.processes WHERE query LIKE '%of this query%' -- of this query";
    expect(await client.query(user, claims)).toEqual([['owner']]);
    await client.query('CREATE TABLE claimed (n UInt64) ENGINE = Memory', claims);
    const statements = [
      'SYSTEM STOP LISTEN',
      'SYSTEM STOP LISTEN TCP',
      'SYSTEM STOP LISTEN HTTP',
      'SYSTEM STOP LISTEN QUERIES ALL',
      'SYSTEM START LISTEN TCP',
      'SYSTEM SHUTDOWN',
      'EXECUTE AS default SELECT 1',
      "CREATE USER other IDENTIFIED BY 'x'",
      "ALTER USER default IDENTIFIED BY 'x'",
      'GRANT ALL ON *.* TO default',
      "CREATE VIEW v DEFINER = default SQL SECURITY DEFINER AS SELECT file('/etc/passwd')",
      "SELECT file('/etc/passwd')",
      // Another address than its own: the confinement of the process has no connections.
      `SELECT * FROM remote('127.0.0.2:${upstream.port}', system.one)`,
    ];
    for (const sql of statements) {
      const outcome = await client.query(sql, claims).then(
        () => 'done',
        (error) => error,
      );
      expect([sql, outcome instanceof NativeException]).toEqual([sql, true]);
    }
    // Its own address stands for itself, with the rights of the same user.
    const own =
      "SELECT DISTINCT user FROM remote('127.0.0.1', system.processes, 'default', '') WHERE query LIKE '%by itself%'";
    expect(await client.query(`${own} -- by itself`)).toEqual([['owner']]);
    // It may end its own queries only.
    await client.query("KILL QUERY WHERE user = 'default' SYNC", claims);
    expect(await client.query('SELECT currentUser()')).toEqual([['owner']]);
    await client.close();
    expect(await isAlive()).toBe(true);
  });

  it.each<[string, Buffer]>([
    [
      'a second hello',
      renderHello({
        clientName: 'x',
        major: 1,
        minor: 1,
        revision: 54406,
        database: '',
        user: 'default',
        password: '',
      }),
    ],
    ['an unknown packet', Buffer.from([99])],
    ['a text that is too long', Buffer.from([1, 255, 255, 255, 255, 255, 255, 255, 127])],
    ['a part of a query', renderQuery('SELECT 1').subarray(0, 20)],
  ])('ends its connection, and not the process, with %s', async (_, sent) => {
    const { connectAs } = await open();
    const client = await connectAs();
    client.socket.end(sent);
    client.socket.resume();
    await client.closed;
    expect(await isAlive()).toBe(true);
  });

  it('that resets its connection, also during a query or an insert, does not end the process', async () => {
    const { connectAs, untilRunning } = await open();
    for (const sql of [
      undefined,
      'SELECT number FROM numbers(1000000000000)',
      'SELECT sleepEachRow(0.1) FROM numbers(1000)',
    ]) {
      const client = await connectAs();
      if (sql) {
        client.socket.write(Buffer.concat([renderQuery(sql), EMPTY_BLOCK]));
        await untilRunning(1);
      }
      client.socket.resetAndDestroy();
      await untilRunning(0);
    }
    expect(await isAlive()).toBe(true);
    expect((await services.query(service, "SELECT count() FROM system.processes WHERE query LIKE '%0000%'")).text).toBe(
      '1',
    );
  });
});

/** Sends a query as another server of a cluster does, whose users need no password. */
async function sendAsCluster(port: number): Promise<string> {
  const { socket, readVarint, readText } = openNativeSocket({ port });
  const revision = 54441;
  const user = ' INTERSERVER SECRET ';
  socket.write(renderHello({ clientName: 'x', major: 1, minor: 1, revision, database: '', user, password: '' }));
  const secret = 'x'.repeat(32);
  const query = renderQuery('SELECT 1', { kind: 2, initialUser: 'default', secret });
  socket.write(Buffer.concat([...['default', 'salt'].map(renderText), query, EMPTY_BLOCK]));
  // The hello of the server.
  for (const read of [readVarint, readText, readVarint, readVarint, readVarint, readText, readText, readVarint])
    await read();
  const packet = await readVarint().catch(() => -1);
  socket.destroy();
  return packet === 2 || packet === -1 ? 'rejected' : `answered with packet ${packet}`;
}

describe('the native port of the process', () => {
  it('is closed to the users of other programs on this machine, which cannot end it', async () => {
    const { port } = upstream.native;
    expect((await refuse(connectNative({ port, user: 'default', password: '' }))).code).toBe(700);
    expect((await refuse(connectNative({ port, user: 'owner', password: '' }))).code).toBe(516);
    expect(await sendAsCluster(port)).toBe('rejected');
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.resetAndDestroy();
    expect(
      (await services.query(service, 'SELECT 1', { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': '' })).status,
    ).toBe(500);
    expect(await isAlive()).toBe(true);
  });
});

describe('waiting and use', () => {
  it('a hello waits for the service and wakes it once; a client that leaves waits no longer', async () => {
    const { connectAs, wakes, untilWaiting, setUpstream, port, getTraffic } = await open({ isIdle: true });
    const left = openNativeSocket({ port });
    left.socket.write(
      renderHello({
        clientName: 'left',
        major: 1,
        minor: 1,
        revision: 54406,
        database: '',
        user: 'default',
        password: PASSWORD,
      }),
    );
    await untilWaiting(1);
    left.socket.destroy();
    await untilWaiting(0);
    const waiting = [connectAs({ clientName: 'a client' }), connectAs()];
    await untilWaiting(2);
    expect(wakes).toMatchObject([{ userAgent: 'left', username: 'default', kind: 'UNKNOWN' }]);
    setUpstream(upstream);
    for (const client of await Promise.all(waiting)) await client.close();
    expect(getTraffic()).toMatchObject({ queries: 0, running: 0, waiting: 0 });
  });

  it('a query counts once, an insert too; a ping and an open connection do not count', async () => {
    const { connectAs, getTraffic, untilRunning } = await open();
    const client = await connectAs();
    await client.ping();
    expect(getTraffic()).toMatchObject({ queries: 0, running: 0 });
    await client.query('CREATE TABLE IF NOT EXISTS counted (n UInt64) ENGINE = MergeTree ORDER BY n');
    await client.insert(
      'counted',
      'n',
      Array.from({ length: 1000 }, (_, index) => index),
    );
    await client.query('SELECT n FROM counted');
    await client.ping();
    expect(getTraffic()).toMatchObject({ queries: 3, ignoredQueries: 0, running: 1 });
    await untilRunning(0);
    await client.ping();
    const { receivedBytes, sentBytes, running } = getTraffic();
    expect([receivedBytes > 8000, sentBytes > 8000, running]).toEqual([true, true, 0]);
    const probe = await connectAs({ clientName: 'probe/1' });
    await probe.query('SELECT toUInt8(1)');
    expect(getTraffic()).toMatchObject({ queries: 4, ignoredQueries: 1 });
    await probe.close();
    await client.close();
  });

  it('a query that is silent for seconds is running until it ends', async () => {
    const { connectAs, getTraffic, untilRunning } = await open();
    const client = await connectAs();
    const slept = client.query('SELECT sleep(3)');
    await untilRunning(1);
    expect(await Promise.race([slept.then(() => 'slept'), untilRunning(0)])).toBe('slept');
    expect(getTraffic().running).toBe(1);
    await untilRunning(0);
    await client.close();
  });

  it('a restart waits for the running query, keeps the next one back, and closes the connections', async () => {
    const { connectAs, proxy, service: proxied, setUpstream } = await open();
    const [busy, silent] = [await connectAs(), await connectAs()];
    const running = busy.query('SELECT sleep(2)');
    await until(
      async () => proxy.getTraffic(proxied.id).running,
      (count) => count === 1,
      'the query does not run',
    );
    const held = proxy.hold(proxied.id, 60_000);
    const later = silent.query('SELECT toUInt8(7)');
    await running;
    expect(await held).toBe(true);
    // Nothing has changed: the query is sent now.
    proxy.release(proxied.id);
    expect(await later).toEqual([[7]]);
    expect(await proxy.hold(proxied.id, 60_000)).toBe(true);
    const lost = silent.query('SELECT toUInt8(8)').catch((error: Error) => error.message);
    setUpstream(undefined);
    await Promise.all([busy.closed, silent.closed]);
    expect(await lost).toBe('the connection was closed');
  });
});

it('a client that reads slowly does not fill the memory', async () => {
  const { connectAs, getTraffic } = await open();
  const client = await connectAs();
  client.socket.pause();
  client.socket.write(Buffer.concat([renderQuery("SELECT repeat('a', 1000) FROM numbers(10000000)"), EMPTY_BLOCK]));
  let last = -1;
  await until(
    async () => {
      const before = last;
      last = getTraffic().sentBytes;
      return last > 0 && last === before;
    },
    (isStalled) => isStalled,
    'the response does not stall',
  );
  const heapBytes = process.memoryUsage().arrayBuffers;
  expect(last).toBeLessThan(64 * 2 ** 20);
  expect(heapBytes).toBeLessThan(256 * 2 ** 20);
  client.socket.destroy();
});

it('uses TLS with a certificate, and takes nothing else', async () => {
  const files = useCertificateFiles();
  const log = { info() {}, warn() {} };
  const certificate = await openCertificate({ certFile: files.certFile, keyFile: files.keyFile, log });
  const { connectAs, port, getTraffic } = await open({ certificate });
  const client = await connectNative({ port, password: PASSWORD, tls: { ca: files.ca } });
  expect(await client.query('SELECT currentUser()')).toEqual([['owner']]);
  const { receivedBytes, sentBytes } = getTraffic();
  expect([receivedBytes > 0, sentBytes > 0]).toEqual([true, true]);
  await client.close();
  await expect(connectAs()).rejects.toThrow();
  await expect(connectNative({ port, password: PASSWORD, tls: {} })).rejects.toThrow(/certificate/);
  await expect(
    connectNative({ port, password: PASSWORD, tls: { ca: files.ca, maxVersion: 'TLSv1.1' } }),
  ).rejects.toThrow();
  certificate.close();
});
