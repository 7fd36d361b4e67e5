import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import type { Upstream } from '../../src/management/services/driver.ts';
import { hashSecret } from '../../src/platform/credentials/secrets.ts';
import { createAttemptLimit } from '../../src/platform/http/limits/attempt-limit.ts';
import { createProxy, type ProxiedService, type ProxyOptions } from '../../src/running/proxy/proxy.ts';
import { until } from './until.ts';

export const PASSWORD = 'right password';
export const AUTHORIZATION = `Basic ${Buffer.from(`default:${PASSWORD}`).toString('base64')}`;
const SERVICE: ProxiedService = {
  id: 'service',
  port: 0,
  state: 'running',
  username: 'default',
  passwordHash: hashSecret(PASSWORD),
  ipAccessList: [],
};

/** A proxy with one service, closed at the end of the test. */
export async function openTestProxy(options: Partial<ProxyOptions> & { service?: Partial<ProxiedService> } = {}) {
  const wakes: unknown[] = [];
  const proxy = createProxy({
    clock: systemClock,
    log: { debug: () => {}, warn: () => {} },
    host: '127.0.0.1',
    attempts: createAttemptLimit(systemClock),
    ignoredAgents: ['probe/'],
    ignoredStatements: ['SELECT 1'],
    ...options,
    wake: async (serviceId, cause) => {
      wakes.push(cause);
      await options.wake?.(serviceId, cause);
    },
  });
  onTestFinished(() => proxy.closeAll());
  const service = { ...SERVICE, ...options.service };
  const port = await proxy.open(service);
  return {
    proxy,
    service,
    port,
    url: `http://127.0.0.1:${port}`,
    wakes,
    send: (call: Call = {}) => sendQuery(port, call),
    setUpstream: (upstream: Upstream | undefined) => proxy.setUpstream(service.id, upstream),
    getTraffic: () => proxy.getTraffic(service.id),
    untilWaiting: (count: number) =>
      until(
        async () => proxy.getTraffic(service.id).waiting,
        (waiting) => waiting === count,
        `${count} queries do not wait`,
      ),
    untilRunning: (count: number) =>
      until(
        async () => proxy.getTraffic(service.id).running,
        (running) => running === count,
        `${count} queries do not run`,
      ),
  };
}

interface Call {
  method?: string;
  path?: string;
  /** Without `authorization`, that of the right password is sent. */
  headers?: Record<string, string>;
  body?: string | Buffer;
  signal?: AbortSignal;
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  trailers: NodeJS.Dict<string>;
}

function sendQuery(port: number, { method = 'GET', path = '/?query=SELECT+2', headers, body, signal }: Call) {
  return new Promise<Reply>((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      agent: false,
      method,
      path,
      headers: { authorization: AUTHORIZATION, ...headers },
      ...(signal && { signal }),
    });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming: IncomingMessage) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.once('error', reject);
      incoming.once('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString('utf8'),
          trailers: incoming.trailers,
        }),
      );
    });
    outgoing.end(body);
  });
}

/** Sends no credentials. */
export const NO_CREDENTIALS = { authorization: '' };

interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
}

/** An HTTP server in the place of ClickHouse, closed at the end of the test. It answers `KILL QUERY` itself. */
export async function openUpstream(
  respond: (incoming: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('2\n'),
  port = 0,
) {
  const requests: ReceivedRequest[] = [];
  const killed: string[] = [];
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers, rawHeaders } = incoming;
    const killedId = new URL(url, 'http://x').searchParams.get('param_id');
    if (killedId !== null) {
      killed.push(killedId);
      return void response.end('finished\n');
    }
    requests.push({ method, url, headers, rawHeaders });
    respond(incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(async () => void (await close()));
  const upstream: Upstream = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    headers: { 'X-Door': 'secret of the upstream', 'X-ClickHouse-User': 'inner', 'X-ClickHouse-Key': 'inner key' },
  };
  return { upstream, requests, killed, close };
}
