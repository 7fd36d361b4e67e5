import { describe, expect, it, vi } from 'vitest';
import type { ApiResponse, Call } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { query, useServices } from '../support/running-service.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { postSession, SESSION, signIn } from '../support/sessions.ts';

// Hundreds of requests in each test, more in `npm run hostile`.
vi.setConfig({ testTimeout: 120_000 });

const METRICS_TOKEN = 'a-metrics-token-of-some-length';

/** 300 are allowed. More with `npm run hostile`. */
const GUESSES = process.env.HOSTILE_REQUESTS === undefined ? 350 : 1500;

/** One way to authenticate: a right credential, and any number of wrong ones. */
interface Way {
  right: Call;
  guess(index: number): Call;
}

const read = '/v1/organizations';
const dashboards = '/api/v2/dashboards';
const signInWith = (body: object): Call => ({ method: 'POST', path: SESSION, body });

const WAYS: Record<string, Way> = {
  'a key': {
    right: { path: read, key: acme.admin },
    guess: (index) => ({ path: read, key: { ...acme.admin, keySecret: `guess-${index}` } }),
  },
  'a token': {
    right: { path: dashboards, token: acme.token },
    guess: (index) => ({ path: dashboards, token: `guess-${index}` }),
  },
  'a sign-in with a key': {
    right: signInWith(acme.developer),
    guess: (index) => signInWith({ ...acme.developer, keySecret: `guess-${index}` }),
  },
  'a sign-in with a token': {
    right: signInWith({ token: acme.writer }),
    guess: (index) => signInWith({ token: `guess-${index}` }),
  },
  'the metrics token': {
    right: { path: '/metrics', token: METRICS_TOKEN },
    guess: (index) => ({ path: '/metrics', token: `guess-${index}` }),
  },
};

onEachStore('guessing', (store) => {
  const server = useServer(store, {
    args: [
      '--rate-limit',
      'off',
      '--trust-proxy',
      '127.0.0.1',
      '--metrics-token',
      METRICS_TOKEN,
      '--endpoint-ports',
      '0',
    ],
  });
  const services = useServices(server);
  const callFrom = (address: string, call: Call): Promise<ApiResponse> =>
    server.call({ ...call, headers: { ...call.headers, 'x-forwarded-for': address } });

  /** Sends wrong credentials, fifty at a time, and counts the responses by status. */
  async function guessFrom(address: string, count: number, guess: Way['guess']): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    for (let from = 0; from < count; from += 50) {
      const batch = Array.from({ length: 50 }, (_, index) => callFrom(address, guess(from + index)));
      for (const { status } of await Promise.all(batch)) counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  }

  // Each way counts by the same rule in the store.
  const ways = Object.entries(WAYS).slice(0, store === 'libsql' || isLongRun ? undefined : 1);
  describe.each(ways.map(([name, way], index) => ({ name, index, ...way })))('$name', ({ right, guess, index }) => {
    it(`B7: after ${GUESSES} wrong ones, the right one gets the same 429 as a wrong one`, async () => {
      const address = `203.0.113.${index + 1}`;
      expect(await guessFrom(address, GUESSES, guess)).toEqual({ 401: 300, 429: GUESSES - 300 });
      const [rightly, wrongly] = [await callFrom(address, right), await callFrom(address, guess(7))];
      const withoutIds = ({ status, text, headers }: ApiResponse) => [
        status,
        text.replaceAll(/[0-9a-f-]{36}|\d+ s/g, ''),
        [...headers.keys()].sort(),
      ];
      expect(rightly.status).toBe(429);
      expect(withoutIds(rightly)).toEqual(withoutIds(wrongly));
      expect(rightly.headers.has('set-cookie')).toBe(false);
      expect((await callFrom(`198.51.100.${index + 1}`, right)).status, 'from another address').toBe(200);
    });

    it('B7: one that was accepted from the address lately keeps working', async () => {
      const address = `192.0.2.${index + 1}`;
      expect((await callFrom(address, right)).status).toBe(200);
      expect(await guessFrom(address, 350, guess)).toEqual({ 401: 300, 429: 50 });
      expect((await callFrom(address, right)).status).toBe(200);
    });
  });

  it('B7: the same for session cookies', async () => {
    const address = '203.0.113.100';
    const session = await signIn(server, globex.admin, { 'x-forwarded-for': '198.51.100.100' });
    const known = await signIn(server, globex.admin, { 'x-forwarded-for': address });
    const guess = (index: number): Call => ({
      path: SESSION,
      headers: { cookie: `${known.cookieName}=${String(index).padStart(43, 'x')}` },
    });
    expect(await guessFrom(address, 350, guess)).toEqual({ 401: 300, 429: 50 });
    for (const path of [SESSION, read, dashboards]) {
      expect((await callFrom(address, { path, headers: session.headers })).status, path).toBe(429);
      expect((await callFrom(address, { path, headers: known.headers })).status, path).toBe(200);
    }
  });

  it('B7: a key that was accepted by the API can sign in, and the other way round', async () => {
    const address = '203.0.113.101';
    expect((await callFrom(address, { path: read, key: globex.admin })).status).toBe(200);
    expect((await callFrom(address, signInWith({ token: globex.token }))).status).toBe(200);
    await guessFrom(address, 300, (index) => ({ path: read, key: { keyId: 'x', keySecret: `guess-${index}` } }));
    expect((await postSession(server, globex.admin, { 'x-forwarded-for': address })).status).toBe(200);
    expect((await callFrom(address, { path: dashboards, token: globex.token })).status).toBe(200);
  });

  it('B7: guesses at the endpoint of a service and at the API are counted together', async () => {
    const { url, query: run } = await services.create();
    expect((await run('SELECT 1')).status).toBe(200);
    const counts: Record<number, number> = {};
    for (let batch = 0; batch < 8; batch++) {
      const answers = Array.from({ length: 25 }, (_, index) => [
        query(url, `guess-${batch}-${index}`, 'SELECT 1'),
        server.call({ path: dashboards, token: `guess-${batch}-${index}` }),
      ]);
      for (const { status } of await Promise.all(answers.flat())) counts[status] = (counts[status] ?? 0) + 1;
    }
    expect(counts).toEqual({ 401: 300, 429: 100 });
    expect((await query(url, 'guess', 'SELECT 1')).status).toBe(429);
    expect((await server.call({ path: dashboards, token: 'guess' })).status).toBe(429);
    expect((await run('SELECT 1')).status, 'accepted before').toBe(200);
  });

  it('B7: 600 guesses at the same time are 300 guesses', async () => {
    const sent = Array.from({ length: 600 }, (_, index) =>
      callFrom('203.0.113.102', { path: dashboards, token: `burst-${index}` }),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(300);
    expect(statuses.filter((status) => status === 429)).toHaveLength(300);
  });
});
