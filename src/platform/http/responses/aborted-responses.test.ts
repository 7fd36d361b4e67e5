import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../app.ts';
import { createMetrics } from '../monitoring/metrics.ts';
import { logFailures } from './aborted-responses.ts';

let app: ReturnType<typeof createApp>;
let url: string;
let logged: Record<string, unknown>[];
let hasEnded: Promise<void>;

beforeEach(async () => {
  logged = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  app = createApp({ access() {}, log, metrics: createMetrics(), explain: (error) => error });
  let end = () => {};
  hasEnded = new Promise((resolve) => {
    end = resolve;
  });
  async function* endless(): AsyncGenerator<Buffer> {
    try {
      for (;;) yield Buffer.alloc(65_536);
    } finally {
      end();
    }
  }
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.from('the beginning');
    throw new Error('the store failed');
  }
  app.get('/failing', { config: { operation: 'thingsGet' } }, async (request, reply) =>
    (reply as never as { send(body: Readable): unknown }).send(
      Readable.from(logFailures(request, failing()), { objectMode: false }),
    ),
  );
  app.get('/endless', { config: { operation: 'thingsGet' } }, async (request, reply) => {
    const gzip = createGzip();
    const pieces = Readable.from(logFailures(request, endless()), { objectMode: false });
    pipeline(pieces, gzip, () => {});
    return (reply as never as { send(body: Readable): unknown }).send(gzip);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});

afterEach(() => app.close());

describe('a response that has started', () => {
  it('is aborted if producing the rest fails, and the error is logged', async () => {
    const response = await fetch(`${url}/failing`);
    await expect(response.text()).rejects.toThrow();
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({
      level: 40,
      operation: 'thingsGet',
      requestId: response.headers.get('x-request-id'),
      reason: 'the store failed',
      msg: 'response aborted',
    });
  });

  it('is not logged if the client disconnects', async () => {
    const abort = new AbortController();
    const response = await fetch(`${url}/endless`, { signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    await hasEnded;
    expect(logged).toEqual([]);
  });
});
