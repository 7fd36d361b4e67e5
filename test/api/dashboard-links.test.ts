import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ApiResponse, Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { tile } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { formatPath, listOperations } from '../support/operations.ts';
import { createIngestToken, sendLogs } from '../support/otlp-json.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';

const SHARED = '/console/shared-dashboard';
const toLinksPath = (id: string) => `/api/v2/dashboards/${id}/links`;
const readSecret = ({ json }: ApiResponse): string => /#(phl_\w+)$/.exec(json.data.path)?.[1] ?? '';
const withLink = (secret: string, path = '') => ({ path: SHARED + path, headers: { 'x-pilothouse-link': secret } });

interface Callable {
  call: ReturnType<typeof useServer>['call'];
}
const createLink = (server: Callable, id = acme.dashboard, token = acme.writer, body: object = { expireInHours: 1 }) =>
  server.call({ method: 'POST', path: toLinksPath(id), token, body });

onEachStore('links to dashboards', (store) => {
  const server = useServer(store, { inProcess: false, args: ['--log-level', 'trace', '--trust-proxy', '127.0.0.1'] });
  const list = async (id = acme.dashboard): Promise<Json[]> =>
    (await server.call({ path: toLinksPath(id), token: acme.writer })).json.data;
  const createBoard = async (name: string, tiles: object[] = [tile()]): Promise<string> =>
    (await server.call({ method: 'POST', path: '/api/v2/dashboards', token: acme.writer, body: { name, tiles } })).json
      .data.id;

  it('shows the data with the saved filters of the dashboard', async () => {
    const { token } = await createIngestToken(server, acme);
    const at = Date.now() - 60_000;
    for (const service of ['shop', 'bank'])
      await sendLogs(server, token, service, [
        { body: 'paid', at },
        { body: 'failed', at },
      ]);
    const count = { sourceId: 'logs', type: 'number', aggFn: 'count' };
    const variable = { type: 'STATIC_LIST', options: ['shop', 'bank'], isBroadcastEnabled: true };
    const body = {
      name: 'Filtered',
      tiles: [tile({ id: 'one', series: [count] }), tile({ id: 'all', ignoresFilters: true, series: [count] })],
      filters: [
        { ...variable, id: 'service', name: 'Service', expression: 'ServiceName', variableName: 'service' },
        { ...variable, id: 'body', name: 'Body', expression: 'Body' },
        { ...variable, id: 'missing', name: 'Missing', expression: 'NoSuchColumn', variableName: 'missing' },
        { ...variable, id: 'other', name: 'Other', expression: 'ServiceName', appliesToSourceIds: ['metrics'] },
      ],
      savedFilterValues: [
        { type: 'variable', name: 'service', values: ['shop'] },
        { type: 'sql', condition: "Body IN ('paid', 'failed')" },
        { type: 'variable', name: 'missing', values: ['x'] },
        { type: 'variable', name: 'other', values: ['bank'] },
      ],
      savedQuery: 'paid',
    };
    const created = await server.call({ method: 'POST', path: '/api/v2/dashboards', token: acme.writer, body });
    const secret = readSecret(await createLink(server, created.json.data.id));
    const read = async (id: string) => {
      const { json } = await server.call(withLink(secret, `/tiles/${id}/data?start=${at - 1000}&end=${at + 1000}`));
      return [Number(json.data.value), json.data.unappliedFilters?.map(({ filter }: Json) => filter)];
    };
    expect(await read('one')).toEqual([1, [2]]);
    expect(await read('all')).toEqual([4, undefined]);
  });

  it('K1: the secret is returned once, and is neither stored nor logged', async () => {
    const created = await createLink(server, acme.dashboard, acme.writer, { name: 'wall', expireInHours: 24 });
    expect([created.status, created.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const secret = readSecret(created);
    expect(created.json.data).toEqual({
      path: `/shared#${secret}`,
      link: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        dashboardId: acme.dashboard,
        name: 'wall',
        secretSuffix: secret.slice(-4),
        createdAt: expect.any(String),
        createdBy: expect.any(String),
        expireAt: expect.any(String),
      },
    });
    expect((await server.call(withLink(secret))).status).toBe(200);
    const { createdAt, expireAt } = created.json.data.link;
    expect(Date.parse(expireAt) - Date.parse(createdAt)).toBe(24 * 3_600_000);
    const [used] = await until(
      async () => (await list()).filter(({ name }) => name === 'wall'),
      ([link]) => link?.usedAt !== undefined,
      'the last use is not stored',
    );
    expect(JSON.stringify(used)).not.toContain(secret);
    expect(await readStoreText(server)).not.toContain(secret);
    await until(
      async () => server.log(),
      (log) => log.includes('getSharedDashboard'),
      'the request is not logged',
    );
    expect(server.log()).not.toContain(secret);
  });

  it('shows this dashboard and the data of its tiles', async () => {
    const id = await createBoard('Shown', [{ ...tile(), id: 'one' }]);
    const secret = readSecret(await createLink(server, id));
    const { status, json, headers } = await server.call(withLink(secret));
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const stored = (await server.call({ path: `/api/v2/dashboards/${id}`, token: acme.token })).json.data;
    expect(json.data).toEqual({ dashboard: stored, expireAt: expect.any(String) });
    const query = 'start=1700000000000&end=1700003600000&points=60&timezone=UTC';
    const shared = await server.call(withLink(secret, `/tiles/one/data?${query}`));
    const own = await server.call({ path: `/api/v2/dashboards/${id}/tiles/one/data?${query}`, token: acme.token });
    expect([shared.status, shared.json]).toEqual([200, own.json]);
  });

  it('a revoked link and a link of a deleted dashboard are the same 404 as a wrong secret', async () => {
    const id = await createBoard('Deleted');
    const [revoked, orphan] = [await createLink(server, id), await createLink(server, id)];
    const path = `${toLinksPath(id)}/${revoked.json.data.link.id}`;
    const remove = () => server.call({ method: 'DELETE', path, token: acme.writer });
    expect([(await remove()).status, (await remove()).status]).toEqual([200, 404]);
    expect((await server.call(withLink(readSecret(orphan)))).status).toBe(200);
    await server.call({ method: 'DELETE', path: `/api/v2/dashboards/${id}`, token: acme.writer });
    for (const secret of [readSecret(revoked), readSecret(orphan), 'phl_wrong']) {
      const { status, json } = await server.call(withLink(secret));
      expect([status, json.message]).toEqual([404, expect.stringMatching(/^This link does not exist, has expired/)]);
      expect((await server.call(withLink(secret, '/tiles/one/data'))).status).toBe(404);
    }
    expect((await server.call({ path: SHARED })).status).toBe(400);
  });

  it('creating and revoking are activities', async () => {
    const id = await createBoard('Audited');
    const { link } = (await createLink(server, id, acme.writer, { name: 'audited', expireInHours: 2 })).json.data;
    await server.call({ method: 'DELETE', path: `${toLinksPath(id)}/${link.id}`, token: acme.writer });
    const path = `/v1/organizations/${acme.id}/activities?resource_id=${link.id}`;
    const activities: Json[] = (await server.call({ path, key: acme.admin })).json.result;
    const fields = { name: 'audited', dashboardId: id, secretSuffix: link.secretSuffix, expireAt: expect.any(String) };
    expect(activities.map(({ activityType, before, after }) => ({ activityType, before, after }))).toEqual([
      { activityType: 'dashboard_link_delete', before: fields },
      { activityType: 'dashboard_link_create', after: fields },
    ]);
  });

  it.each([
    [{}, 'expireInHours'],
    [{ expireInHours: 0 }, 'expireInHours'],
    [{ expireInHours: 2161 }, 'expireInHours'],
    [{ expireInHours: 1.5 }, 'expireInHours'],
    [{ expireInHours: 1, name: '' }, 'name'],
  ])('M3: %j is a 400 that names %s', async (body, member) => {
    const { status, json } = await createLink(server, acme.dashboard, acme.writer, body);
    expect([status, json.errors[0].path]).toEqual([400, member]);
  });

  describe('attacks', () => {
    it('the secret opens no operation of the interfaces', async () => {
      const secret = readSecret(await createLink(server));
      let address = 0;
      for (const operation of [
        ...(await listOperations(server, '/api/v2')),
        ...(await listOperations(server, '/v1')),
      ]) {
        const values = {
          organizationId: acme.id,
          serviceId: acme.primary,
          id: acme.dashboard,
          tileId: 'one',
          version: '1',
          traceId: '5b8efff798038103d269b633813fc60c',
        };
        const ids = Object.fromEntries(operation.parameters.map((name) => [name, randomUUID()]));
        const call = { method: operation.method, path: formatPath(operation, { ...ids, ...values }) };
        // The address changes, because failed attempts are limited by address.
        const link = { 'x-pilothouse-link': secret, 'x-forwarded-for': `10.0.0.${++address}` };
        const attempts = [
          { ...call, token: secret, headers: link },
          { ...call, headers: { ...link, cookie: `pilothouse_session=${secret}`, 'x-pilothouse-csrf': secret } },
          { ...call, key: { keyId: secret, keySecret: secret }, headers: link },
        ];
        for (const attempt of attempts)
          expect([operation.id, (await server.call(attempt)).status]).toEqual([operation.id, 401]);
      }
    });

    it('another dashboard, tile or organization cannot be reached, and no query can be sent', async () => {
      const secret = readSecret(await createLink(server));
      const other = await createBoard('Other', [{ ...tile(), id: 'secret-tile' }]);
      const missing = [
        '/tiles/secret-tile/data',
        `/tiles/${other}/data`,
        '/tiles/..%2F..%2Fdashboards/data',
        '/tiles/%00/data',
        `/tiles/${'x'.repeat(64)}/data`,
      ];
      for (const path of missing)
        expect([path, (await server.call(withLink(secret, path))).status]).toEqual([path, 404]);
      const rejected = [
        'where=1',
        'series=[]',
        'groups=500',
        'others=true',
        'limit=9999',
        'id=x',
        `dashboardId=${other}`,
      ];
      for (const query of rejected) {
        const { status } = await server.call(withLink(secret, `/tiles/one/data?${query}`));
        expect([query, status]).toEqual([query, 400]);
        expect((await server.call(withLink(secret, `?${query}`))).status).toBe(400);
      }
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'])
        expect([404, 405]).toContain((await server.call({ ...withLink(secret), method })).status);
      for (const path of ['/console/session', '/console/shared-dashboard/dashboards', '/api/v2/sources'])
        expect([401, 404]).toContain((await server.call({ ...withLink(secret), path })).status);
    });

    it('only those who may change the dashboard can create and revoke its links', async () => {
      const { link } = (await createLink(server)).json.data;
      const remove = { method: 'DELETE', path: `${toLinksPath(acme.dashboard)}/${link.id}` };
      expect((await createLink(server, acme.dashboard, acme.token)).status).toBe(403);
      expect((await server.call({ path: toLinksPath(acme.dashboard), token: acme.token })).status).toBe(200);
      expect((await server.call({ ...remove, token: acme.token })).status).toBe(403);
      expect((await createLink(server, acme.dashboard, globex.writer)).status).toBe(404);
      expect((await server.call({ path: toLinksPath(acme.dashboard), token: globex.writer })).status).toBe(404);
      expect((await server.call({ ...remove, token: globex.writer })).status).toBe(404);
      expect((await list()).map(({ id }) => id)).toContain(link.id);
    });

    it('a key that may change dashboards but not read them cannot share them', async () => {
      const resources = [`organization/${acme.id}`];
      const policies = [{ allowDeny: 'ALLOW', permissions: ['dashboards:manage'], resources }];
      const path = `/v1/organizations/${acme.id}/roles`;
      const body = { name: `blind ${randomUUID()}`, policies };
      const { json } = await server.call({ method: 'POST', path, key: acme.admin, body });
      const { credentials } = await createKey(server, { assignedRoleIds: [json.result.id] });
      const { headers } = await signIn(server, credentials);
      const attempt = { method: 'POST', path: toLinksPath(acme.dashboard), headers, body: { expireInHours: 1 } };
      const response = await server.call(attempt);
      expect([response.status, response.json.message]).toEqual([403, expect.stringContaining('getDashboard')]);
    });
  });
});

onEachStore('expiry and limits of links', (store) => {
  const server = useClockedServer(store, { settings: { trustedProxies: '127.0.0.1', rateLimit: 'off' } });
  const from = (address: string, secret: string) => {
    const { path, headers } = withLink(secret);
    return server.call({ path, headers: { ...headers, 'x-forwarded-for': address } });
  };

  it('a link ends at its expiry, and is listed for a week', async () => {
    const secret = readSecret(await createLink(server));
    const countListed = async () =>
      (await server.call({ path: toLinksPath(acme.dashboard), token: acme.writer })).json.data.length;
    server.now += 3_600_000 - 1;
    expect((await server.call(withLink(secret))).status).toBe(200);
    server.now += 1;
    expect((await server.call(withLink(secret))).status).toBe(404);
    expect(await countListed()).toBe(1);
    server.now += 8 * 86_400_000;
    await createLink(server);
    expect(await countListed()).toBe(1);
  });

  it('an organization has at most 200 links', async () => {
    for (let index = 0; index < 200; index += 50)
      await Promise.all(Array.from({ length: 50 }, () => createLink(server)));
    const refused = await createLink(server);
    expect([refused.status, refused.json.message]).toEqual([409, expect.stringContaining('limit of 200 links')]);
    expect((await createLink(server, globex.dashboard, globex.writer)).status).toBe(200);
  });

  it('B7: after 300 wrong secrets, the right one gets the same 429 as a wrong one', async () => {
    const [fresh, known] = [readSecret(await createLink(server)), readSecret(await createLink(server))];
    expect((await from('203.0.113.1', known)).status).toBe(200);
    const statuses: number[] = [];
    for (let index = 0; index < 350; index += 50) {
      const batch = Array.from({ length: 50 }, (_, one) => from('203.0.113.1', `phl_${index + one}`));
      statuses.push(...(await Promise.all(batch)).map(({ status }) => status));
    }
    expect([404, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([300, 50]);
    expect((await from('203.0.113.1', fresh)).status).toBe(429);
    expect((await from('203.0.113.1', known)).status).toBe(200);
    expect((await from('203.0.113.2', fresh)).status).toBe(200);
  });
});

describe('requests with a link', () => {
  const server = useClockedServer('libsql', { settings: { rateLimit: '5/60s' } });

  it('are limited by link', async () => {
    const [one, other] = [readSecret(await createLink(server)), readSecret(await createLink(server))];
    for (let request = 0; request < 5; request += 1) expect((await server.call(withLink(one))).status).toBe(200);
    expect((await server.call(withLink(one))).status).toBe(429);
    expect((await server.call(withLink(other))).status).toBe(200);
  });
});

describe('with a port for dashboards', () => {
  const server = useServer('libsql', { args: ['--dashboard-port', '0'] });

  it('there are no links, because the console has no dashboards', async () => {
    // Not with `call`, which expects the operations of the document.
    const shared = await fetch(server.url + SHARED, { headers: { 'x-pilothouse-link': 'phl_x' } });
    expect(shared.status).toBe(404);
    expect((await createLink(server)).status).toBe(404);
  });
});
