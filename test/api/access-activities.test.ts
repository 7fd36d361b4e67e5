import { expect, it } from 'vitest';
import type { Call, Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey, keysPath } from '../support/keys.ts';
import { onEachStore } from '../support/server.ts';

const HOUR_MS = 3_600_000;
const organization = `/v1/organizations/${acme.id}`;

/** Operations whose response is a file or a stream, and the activity that says so. */
const FILES: Record<string, string> = {
  sqlRead: 'service_sql: test/services/sql.test.ts',
  sqlWrite: 'service_sql: test/services/sql.test.ts',
  queryEndpointRun: 'service_sql: test/services/query-endpoint.test.ts',
  usageCostExport: 'data_export',
  exportSearch: 'data_export',
  tailSearch: 'none: it shows rows of a search while they arrive, as the search itself does',
  instancePrometheusGet: 'none: the size and load of services',
  organizationPrometheusGet: 'none: the size and load of services',
};

onEachStore('activities of access', (store) => {
  const server = useClockedServer(store);
  const list = async (query: string, owner = acme): Promise<Json[]> => {
    const path = `/v1/organizations/${owner.id}/activities?${query}`;
    return (await server.call({ path, key: owner.admin })).json.result;
  };
  const passHour = async () => {
    server.now += HOUR_MS + 2 * 60_000;
    await server.settleCounts();
  };
  const repeat = async (count: number, call: Call, status: number) => {
    for (let i = 0; i < count; i++) expect((await server.call(call)).status).toBe(status);
  };

  it('count refused calls by credential and hour, also over a restart, and never the secret', async () => {
    const wrong = { ...acme.admin, keySecret: 'wrong-secret-of-a-guesser' };
    await repeat(4, { path: organization, key: wrong }, 401);
    await repeat(2, { path: organization, key: acme.disabled }, 401);
    await repeat(
      3,
      { method: 'POST', path: keysPath(), key: acme.developer, body: { name: 'x', roles: ['admin'] } },
      403,
    );
    await repeat(2, { method: 'POST', path: '/api/v2/dashboards', token: acme.token, body: {} }, 403);
    // Unknown credentials belong to no organization.
    await repeat(5, { path: organization, key: { keyId: 'UnknownKey0000000001', keySecret: 'x' } }, 401);
    await repeat(2, { path: '/api/v2/dashboards', token: 'unknown-token' }, 401);
    expect(await list('resource_type=credential'), 'the hour has not ended').toEqual([]);
    await server.restart();
    await repeat(3, { path: organization, key: wrong }, 401);
    await passHour();
    const activities = await list('resource_type=credential');
    const byName = new Map(activities.map((activity) => [activity.after.name, activity]));
    expect([...byName.keys()].sort()).toEqual(['admin', 'developer', 'disabled', 'wallboard']);
    expect(byName.get('admin')).toMatchObject({
      type: 'calls_refused',
      activityType: 'calls_refused',
      actorType: 'system',
      resourceType: 'credential',
      after: {
        credential: 'key',
        count: 7,
        reasons: { 'secret not valid': 7 },
        from: '2026-11-02T10:00:00Z',
        to: '2026-11-02T11:00:00Z',
        addresses: ['127.0.0.1'],
      },
    });
    expect(byName.get('disabled')?.after).toMatchObject({ count: 2, reasons: { 'not active': 2 } });
    expect(byName.get('developer')?.after).toMatchObject({ count: 3, reasons: { 'not permitted': 3 } });
    expect(byName.get('wallboard')?.after).toMatchObject({ credential: 'token', count: 2 });
    expect(JSON.stringify(activities)).not.toContain(wrong.keySecret);
    expect(await list('resource_type=credential', globex as never)).toEqual([]);
    await passHour();
    expect(await list('resource_type=credential')).toHaveLength(4);
  });

  it('count calls from addresses that a key does not allow', async () => {
    const ipAccessList = [{ source: '203.0.113.7', description: 'elsewhere' }];
    const { credentials } = await createKey(server as never, { name: 'elsewhere', roles: ['developer'], ipAccessList });
    await repeat(2, { path: organization, key: credentials }, 403);
    await passHour();
    const [activity] = await list('resource_type=credential');
    expect(activity?.after).toMatchObject({ name: 'elsewhere', count: 2, reasons: { 'address not allowed': 2 } });
  });

  it('count views through a link by link and hour, without the data of its tiles', async () => {
    const path = `/api/v2/dashboards/${acme.dashboard}/links`;
    const body = { name: 'wall', expireInHours: 24 };
    const { json } = await server.call({ method: 'POST', path, token: acme.writer, body });
    const secret = /#(phl_\w+)$/.exec(json.data.path)?.[1] ?? '';
    const headers = { 'x-pilothouse-link': secret };
    for (let i = 0; i < 3; i++)
      expect((await server.call({ path: '/console/shared-dashboard', headers })).status).toBe(200);
    await server.call({ path: '/console/shared-dashboard/tiles/one/data', headers });
    await passHour();
    const views = await list('type=dashboard_link_view');
    expect(views.map(({ after, resourceType }) => [resourceType, after.name, after.count])).toEqual([
      ['dashboard_link', 'wall', 3],
    ]);
  });

  it('record each export before its first byte, with who exported what', async () => {
    const range = 'from_date=2026-11-01&to_date=2026-11-02';
    const usage = await server.call({
      path: `${organization}/usageCost/export?${range}&format=focus`,
      key: acme.developer,
    });
    expect(usage.status).toBe(200);
    const sources = (await server.call({ path: '/api/v2/sources', token: acme.token })).json.data;
    const sourceId = sources.find(({ kind }: Json) => kind === 'log')?.id ?? sources[0]?.id;
    const search = { sourceId, format: 'csv', where: "Body = 'x'", whereLanguage: 'sql' };
    const exported = await server.call({
      method: 'POST',
      path: '/api/v2/search/export',
      token: acme.token,
      body: search,
    });
    expect(exported.status, exported.text).toBe(200);
    const refused = await server.call({
      method: 'POST',
      path: '/api/v2/search/export',
      token: acme.token,
      body: { ...search, where: 'no such column =' },
    });
    expect(refused.status).toBe(400);
    const activities = await list('type=data_export');
    expect(activities.map(({ actorDetails, resourceId, after }) => ({ actorDetails, resourceId, ...after }))).toEqual([
      { actorDetails: 'wallboard', resourceId: sourceId, name: 'rows of a search', format: 'csv', where: "Body = 'x'" },
      {
        actorDetails: 'developer',
        resourceId: acme.id,
        name: 'usage cost',
        format: 'focus',
        from: '2026-11-01',
        to: '2026-11-02',
      },
    ]);
  });

  it('are declared for every operation that returns a file', async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Json;
    const files = Object.values<Json>(document.paths)
      .flatMap((path: Json) => Object.values<Json>(path))
      .filter(({ responses }: Json) =>
        Object.keys(responses?.['200']?.content ?? {}).some((type) => !/^application\/json/.test(type)),
      )
      .map(({ operationId }: Json) => operationId);
    expect(files.filter((operation: string) => !(operation in FILES))).toEqual([]);
  });
});
