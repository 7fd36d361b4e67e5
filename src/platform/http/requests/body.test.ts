import { Readable } from 'node:stream';
import pino from 'pino';
import { expect, it } from 'vitest';
import { toStoreError } from '../../state/failures.ts';
import { createApp } from '../app.ts';

it('a client that closes the connection during an upload is not an unavailable store', async () => {
  const log = pino({ level: 'silent' });
  const app = createApp({ log, access() {}, metrics: { request() {} }, explain: toStoreError });
  app.post('/v1/things', { config: { operation: 'thingsPost' } }, async () => ({}));
  const body = Readable.from(
    (async function* () {
      yield '{"name":';
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
    })(),
  );
  const headers = { host: 'h', 'content-type': 'application/json' };
  const response = await app.inject({ method: 'POST', url: '/v1/things', headers, payload: body });
  expect(response.json()).toMatchObject({ status: 400, error: 'BAD_REQUEST: The request body ended too early' });
});
