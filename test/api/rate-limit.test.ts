import { describe, expect, it } from 'vitest';
import type { ApiResponse, Credentials } from '../support/client.ts';
import { acme, globex, initech } from '../support/fleet.ts';
import { createKey, keysPath, readWithKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-policy'];

/** Checks the headers of an authenticated call in a window of 60 seconds. */
function expectRateLimitHeaders({ headers }: ApiResponse, remaining: number): void {
  expect(HEADERS.map((name) => headers.get(name))).toEqual([
    '5',
    String(remaining),
    expect.stringMatching(/^[1-9]\d?$/),
    '5;w=60',
  ]);
  expect(Number(headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(60);
}

function expectRetryAfter({ headers }: ApiResponse): void {
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
}

onEachStore('rate limit', (store) => {
  describe('of 5 in 60 seconds', () => {
    const server = useServer(store, { args: ['--rate-limit', '5/60s'] });

    it('B7: every success counts down, then a 429 has a retry time', async () => {
      for (const remaining of [4, 3, 2, 1, 0]) {
        const response = await readWithKey(server, globex.admin);
        expect(response.status).toBe(200);
        expect(response.headers.has('retry-after')).toBe(false);
        expectRateLimitHeaders(response, remaining);
      }
      for (const _ of [1, 2]) {
        const response = await readWithKey(server, globex.admin);
        expect(response.status).toBe(429);
        expect(response.json.error).toMatch(
          /^TOO_MANY_REQUESTS: Too many requests with these credentials; try again in \d+ s$/,
        );
        expectRateLimitHeaders(response, 0);
        expectRetryAfter(response);
      }
    });

    it('B7: each key and each token has its own limit', async () => {
      for (const _ of [1, 2, 3, 4, 5, 6]) await readWithKey(server, acme.developer);
      expect((await readWithKey(server, acme.developer)).status).toBe(429);
      expectRateLimitHeaders(await readWithKey(server, acme.admin), 4);
      for (const remaining of [4, 3, 2, 1, 0])
        expectRateLimitHeaders(await server.call({ path: '/api/v2/dashboards', token: acme.token }), remaining);
      const rejected = await server.call({ path: '/api/v2/dashboards', token: acme.token });
      expect([rejected.status, rejected.json]).toEqual([429, { message: expect.stringMatching(/^Too many requests/) }]);
      expectRateLimitHeaders(rejected, 0);
      expectRetryAfter(rejected);
      expectRateLimitHeaders(await server.call({ path: '/api/v2/dashboards', token: globex.token }), 4);
    });

    it('B7: rejected authenticated calls have the headers and count too', async () => {
      const call = (path: string, key: Credentials = acme.query) => server.call({ path, key });
      const responses = [
        await call('/v1/organizations'),
        await call('/v1/organizations/nonsense'),
        await call(`/v1/organizations/${globex.id}`),
      ];
      expect(responses.map(({ status }) => status)).toEqual([403, 400, 404]);
      for (const [index, response] of responses.entries()) expectRateLimitHeaders(response, 4 - index);
    });

    it('B7, B8: calls from a rejected address have the headers and do not use up the limit', async () => {
      const { id, credentials } = await createKey(server, { ipAccessList: [{ source: '203.0.113.7' }] }, initech);
      for (const _ of [1, 2, 3, 4, 5, 6, 7]) {
        const response = await readWithKey(server, credentials);
        expect(response.status).toBe(403);
        expect(response.headers.has('retry-after')).toBe(false);
        expectRateLimitHeaders(response, 5);
      }
      const path = `${keysPath(initech)}/${id}`;
      await server.call({ method: 'PATCH', path, key: initech.admin, body: { ipAccessList: [] } });
      expectRateLimitHeaders(await readWithKey(server, credentials), 4);
    });

    it('B7: unauthenticated responses do not have the headers', async () => {
      const responses = [
        await server.call({ path: '/v1/organizations' }),
        await server.call({ path: '/v1/nonsense', key: initech.admin }),
        await server.call({ path: '/healthz' }),
      ];
      for (const { headers } of responses) for (const name of HEADERS) expect(headers.has(name)).toBe(false);
    });
  });

  describe('turned off', () => {
    const server = useServer(store, { args: ['--rate-limit', 'off', '--trust-proxy', '127.0.0.1'] });
    const attempt = (address: string, key: Credentials) => readWithKey(server, key, { 'x-forwarded-for': address });
    const wrong = { ...acme.admin, keySecret: 'wrong' };

    /** Sends `count` failing requests, thirty at a time, and counts the responses by status. */
    async function failures(count: number, address: (index: number) => string): Promise<Record<number, number>> {
      const counts: Record<number, number> = {};
      for (let from = 0; from < count; from += 30) {
        const batch = Array.from({ length: Math.min(30, count - from) }, (_, index) =>
          attempt(address(from + index), wrong),
        );
        for (const { status } of await Promise.all(batch)) counts[status] = (counts[status] ?? 0) + 1;
      }
      return counts;
    }

    it('B7: no response has the headers', async () => {
      const responses = [
        await readWithKey(server, acme.admin),
        await readWithKey(server, acme.query),
        await server.call({ path: '/api/v2/dashboards', token: acme.token }),
      ];
      for (const { headers } of responses) for (const name of HEADERS) expect(headers.has(name)).toBe(false);
    });

    it('B7: 300 failed attempts from an address return 401, further ones 429', async () => {
      expect(await failures(300, () => '203.0.113.7')).toEqual({ 401: 300 });
      const rejected = await attempt('203.0.113.7', wrong);
      expect(rejected.status).toBe(429);
      expect(rejected.json.error).toMatch(
        /^TOO_MANY_REQUESTS: Too many failed attempts from this address; try again in \d+ s$/,
      );
      expect(rejected.headers.has('www-authenticate')).toBe(false);
      expectRetryAfter(rejected);
      expect((await attempt('203.0.113.7', acme.disabled)).status).toBe(429);
      expect((await attempt('::ffff:203.0.113.7', wrong)).status).toBe(429);
      expect((await attempt('203.0.113.8', wrong)).status).toBe(401);
    });

    it('B7: an IPv6 /64 counts as one address', async () => {
      expect(await failures(301, (index) => `2001:db8:1:2::${(index + 1).toString(16)}`)).toEqual({ 401: 300, 429: 1 });
      expect((await attempt('2001:db8:1:3::1', wrong)).status).toBe(401);
    });

    it('B7: valid credentials do not count as attempts', async () => {
      for (let count = 0; count < 310; count += 31)
        await Promise.all(Array.from({ length: 31 }, () => attempt('198.51.100.1', acme.admin)));
      expect((await attempt('198.51.100.1', wrong)).status).toBe(401);
    });
  });
});
