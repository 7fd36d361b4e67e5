import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { keysPath } from '../support/keys.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';

const ELSEWHERE = 'https://elsewhere.example';
const FORM_TYPES = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'];

onEachStoreInLongRuns('requests that other sites start', (store) => {
  const server = useServer(store);
  const listKeyIds = async () =>
    (await server.call({ path: keysPath(), key: acme.admin })).json.result.map(({ id }: { id: string }) => id);
  /** A form without fields: its empty body would count as `{}` and create a key. */
  const submit = (headers: Record<string, string>) =>
    server.call({ method: 'POST', path: keysPath(), key: acme.admin, text: '', headers });

  it.each(FORM_TYPES)('a form (%s) is rejected on /v1, even with the right credentials', async (type) => {
    const before = await listKeyIds();
    for (const site of ['cross-site', 'same-site']) {
      const response = await submit({ 'content-type': type, 'sec-fetch-site': site, origin: ELSEWHERE });
      expect([response.status, response.json.error]).toEqual([403, expect.stringMatching(/^FORBIDDEN: .*other sites/)]);
    }
    // Browsers do not send sec-fetch-site over plain HTTP.
    for (const origin of [ELSEWHERE, 'null', 'http://127.0.0.1:1', 'nonsense'])
      expect((await submit({ 'content-type': type, origin })).status, origin).toBe(403);
    expect(await listKeyIds()).toEqual(before);
  });

  it('every method that changes something is rejected', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const path = method === 'POST' ? '/api/v2/dashboards' : `/api/v2/dashboards/${acme.dashboard}`;
      if (method === 'PATCH') continue;
      const headers = { 'sec-fetch-site': 'cross-site' };
      const response = await server.call({ method, path, token: acme.writer, headers, body: {} });
      expect([response.status, response.json.message], method).toEqual([403, expect.stringContaining('other sites')]);
    }
    const path = `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`;
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await server.call({ method: 'PATCH', path, key: acme.admin, headers, body: {} })).status).toBe(403);
  });

  it('is decided before the credentials are checked', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await server.call({ method: 'POST', path: keysPath(), headers })).status).toBe(403);
  });

  it('requests of this site, of the address bar and of API clients are accepted', async () => {
    const { host } = new URL(server.url);
    const accepted: Record<string, string>[] = [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
      { 'sec-fetch-site': 'none' },
      { origin: `http://${host}` },
      // Another site cannot send JSON without a preflight, so this is a client, or a page behind a proxy.
      { 'content-type': 'application/json', origin: ELSEWHERE },
    ];
    for (const headers of accepted) expect((await submit(headers)).status, JSON.stringify(headers)).toBe(200);
    const session = await signIn(server, acme.admin);
    const response = await server.call({
      method: 'POST',
      path: keysPath(),
      headers: { ...session.headers, origin: 'http://proxy.example' },
    });
    expect(response.status, 'the CSRF header needs a preflight too').toBe(200);
  });

  it('links of other sites can be followed: reading is not a change', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await server.call({ path: '/v1/organizations', key: acme.admin, headers })).status).toBe(200);
  });
});
