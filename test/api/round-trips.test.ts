import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { tile } from '../support/dashboards.ts';
import { acme } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const CLICKSTACK = `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack`;
const APIS = [
  { api: '/api/v2', prefix: '/api/v2', credentials: { token: acme.writer } },
  { api: '/v1', prefix: CLICKSTACK, credentials: { key: acme.admin } },
];
const TEMPLATE = '{"a": "{{title}}"}';
const URLS = { slack: 'https://hooks.slack.com/services/a/b', other: 'https://hooks.example.com/a?b=c' };
const series = [
  { type: 'time', aggFn: 'count', sourceId: 'logs', where: 'a', whereLanguage: 'lucene', groupBy: ['Body'] },
];

/** With every member that a client can send. */
const CONTENTS: Readonly<Record<string, readonly object[]>> = {
  webhooks: [
    { service: 'slack', url: URLS.slack },
    { service: 'generic', url: URLS.other, body: TEMPLATE, headers: { a: 'b' }, queryParams: { c: 'd' } },
    { service: 'incidentio', url: URLS.other, body: TEMPLATE, headers: { a: 'b' }, queryParams: { c: 'd' } },
    { service: 'teams', url: URLS.other },
    { service: 'pagerduty', url: URLS.other, routingKey: 'key' },
    { service: 'email', to: ['a@example.com', 'b@example.com'] },
  ].map((content) => ({ ...content, description: 'text' })),
  'saved-searches': [
    {
      sourceId: 'logs',
      select: 'Body, Timestamp',
      where: 'a',
      whereLanguage: 'lucene',
      orderBy: 'Body ASC',
      tags: ['a', 'b'],
      filters: [{ type: 'sql', condition: "ServiceName IN ('a')" }],
    },
  ],
  sources: [
    { kind: 'log', from: { databaseName: 'other', tableName: 'logs' }, bodyExpression: 'Body' },
    { kind: 'trace', durationExpression: 'Duration', durationPrecision: 6, implicitColumnExpression: 'SpanName' },
    { kind: 'metric', metricTables: { gauge: 'gauges', sum: 'sums' }, timestampValueExpression: 'TimeUnix' },
  ],
  dashboards: [
    {
      tags: ['a'],
      tiles: [tile({ name: 'A', series }), tile({ name: 'B', y: 4, series: [{ type: 'markdown', content: '# a' }] })],
    },
  ],
  alerts: [
    {
      groupBy: 'ServiceName',
      interval: '5m',
      threshold: 1,
      thresholdMax: 2,
      thresholdType: 'between',
      scheduleOffsetMinutes: 1,
      scheduleStartAt: null,
      name: 'a {{group}}',
      message: 'b',
      note: 'c',
      pendingMinutes: 1,
      keepFiringMinutes: 2,
      repeatMinutes: 3,
      noDataBehavior: 'ok',
      errorBehavior: 'keep',
      evaluationDelaySeconds: 4,
      quietHours: { timezone: 'Europe/Berlin', ranges: [{ days: ['mon'], start: '22:00', end: '06:00' }] },
      severity: 'warning',
      labels: { a: 'b' },
      runbookUrl: 'https://example.com/runbook',
      owner: 'team',
    },
  ],
};
const CASES = APIS.flatMap((api) =>
  Object.entries(CONTENTS).flatMap(([resource, contents]) =>
    contents.map((content, index) => ({ ...api, resource, index, content: content as Json })),
  ),
);

/** What the server finds out meanwhile: evaluations of alerts, and the decision of the autoscaler. */
const FOUND = [
  ...['state', 'status', 'statusSince', 'lastValue', 'firingGroups', 'evaluatedUntil', 'executionErrors'],
  'recommendation',
];
const toStored = (record: Json): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !FOUND.includes(name)));

onEachStore('what GET returns', (store) => {
  const server = useServer(store, { args: ['--smtp-url', 'smtp://127.0.0.1:1', '--smtp-from', 'a@example.com'] });
  const references: Json = {};
  let count = 0;

  const countActivities = async () =>
    (await server.call({ path: `/v1/organizations/${acme.id}/activities?limit=1000`, key: acme.admin })).json.result
      .length;
  const createFor = async (resource: string, body: object): Promise<string> => {
    const created = await server.call({ method: 'POST', path: `/api/v2/${resource}`, token: acme.writer, body });
    expect(created.status, created.text).toBe(200);
    return created.json.data.id;
  };
  beforeAll(async () => {
    references.savedSearchId = await createFor('saved-searches', { name: 'of alerts', sourceId: 'logs' });
    const webhookId = await createFor('webhooks', { name: 'of alerts', service: 'teams', url: URLS.other });
    references.channel = { type: 'webhook', webhookId };
  });

  it.each(CASES)('$api/$resource/$index can be sent back without a change', async (given) => {
    const { prefix, credentials, resource, content } = given;
    const send = async (method: string, suffix = '', body?: object, headers: Record<string, string> = {}) => {
      const path = `${prefix}/${resource}${suffix}`;
      return server.call({ method, path, ...credentials, headers, ...(body && { body }) });
    };
    const find = async (id: string): Promise<Json> => {
      const one = await send('GET', `/${id}`);
      if (one.status === 200) return one.json.data ?? one.json.result;
      const { json } = await send('GET', '?limit=1000');
      return (json.data ?? json.result).find((item: Json) => item.id === id);
    };
    const name = `round trip ${count++}`;
    const created = await send('POST', '', { name, ...(resource === 'alerts' && references), ...content });
    expect(created.status, created.text).toBe(200);
    const { id } = created.json.data ?? created.json.result;
    const etag = created.headers.get('etag') ?? '';
    expect(etag).not.toBe('');

    const before = await find(id);
    const activities = await countActivities();
    const same = await send('PUT', `/${id}`, before, { 'if-match': etag });
    expect(same.status, same.text).toBe(200);
    expect(same.headers.get('etag')).toBe(etag);
    expect(toStored(await find(id))).toEqual(toStored(before));
    expect(await countActivities()).toBe(activities);

    // Secrets are not returned, and kept.
    const { headers: _h, queryParams: _q, routingKey: _r, ...visible } = content;
    expect(before).toMatchObject(resource === 'dashboards' ? { tags: content.tags } : visible);

    const stale = { 'if-match': '"stale"' };
    const changed = { ...before, name: `${name} changed` };
    expect((await send('PUT', `/${id}`, changed, stale)).status).toBe(412);
    expect((await send('DELETE', `/${id}`, undefined, stale)).status).toBe(412);
    expect(toStored(await find(id))).toEqual(toStored(before));
    const renamed = await send('PUT', `/${id}`, changed, { 'if-match': etag });
    expect(renamed.status, renamed.text).toBe(200);
    expect((await send('PUT', `/${id}`, changed, { 'if-match': etag })).status).toBe(412);
    expect((await send('DELETE', `/${id}`, undefined, { 'if-match': renamed.headers.get('etag') ?? '' })).status).toBe(
      200,
    );
  });
});

const ORGANIZATION = `/v1/organizations/${acme.id}`;
const SERVICE = `${ORGANIZATION}/services/${acme.primary}`;
const DESCRIBED = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'));

/** By their paths in the document: the resource, or what creates one. */
const PATCHED: Readonly<Record<string, string | { path: string; body: object }>> = {
  '/v1/organizations/{organizationId}': ORGANIZATION,
  '/v1/organizations/{organizationId}/services/{serviceId}': SERVICE,
  '/v1/organizations/{organizationId}/services/{serviceId}/backupConfiguration': `${SERVICE}/backupConfiguration`,
  '/v1/organizations/{organizationId}/services/{serviceId}/autoscaling': `${SERVICE}/autoscaling`,
  '/v1/organizations/{organizationId}/telemetryRetention': `${ORGANIZATION}/telemetryRetention`,
  '/v1/organizations/{organizationId}/telemetryLimits': `${ORGANIZATION}/telemetryLimits`,
  '/v1/organizations/{organizationId}/keys/{keyId}': {
    path: `${ORGANIZATION}/keys`,
    body: {
      name: 'round trip',
      roles: ['developer'],
      state: 'disabled',
      expireAt: '2099-01-01T00:00:00Z',
      ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }],
    },
  },
  '/v1/organizations/{organizationId}/roles/{roleId}': {
    path: `${ORGANIZATION}/roles`,
    body: {
      name: 'round trip',
      actors: [],
      policies: [
        { allowDeny: 'ALLOW', permissions: ['control-plane:service:view'], resources: [`instance/${acme.primary}`] },
      ],
    },
  },
  '/v1/organizations/{organizationId}/budgets/{budgetId}': {
    path: `${ORGANIZATION}/budgets`,
    body: { name: 'round trip', monthlyCHC: 100, thresholds: [50, 80], webhook: { url: URLS.other } },
  },
};
/** Lists that a PATCH changes with `add` and `remove`, and members that are read only here. */
const OTHER_FORMS = ['ipAccessList', 'tags', 'privateEndpoints', 'privateEndpointIds', 'endpoints'];

function resolveSchema(schema: Json): Json {
  if (schema.$ref === undefined) return schema;
  return resolveSchema(
    schema.$ref
      .slice(2)
      .split('/')
      .reduce((node: Json, name: string) => node[name], DESCRIBED),
  );
}

onEachStore('what GET returns to a PATCH', (store) => {
  const server = useServer(store);
  const call = (method: string, path: string, body?: object) =>
    server.call({ method, path, key: acme.admin, ...(body && { body }) });
  const listActivities = async () => (await call('GET', `${ORGANIZATION}/activities?limit=1000`)).json.result;

  it.each(Object.entries(PATCHED))('%s can be sent back without a change', async (described, given) => {
    let path = given as string;
    if (typeof given !== 'string') {
      const created = await call('POST', given.path, given.body);
      expect(created.status, created.text).toBe(200);
      path = `${given.path}/${created.json.result.id ?? created.json.result.key.id}`;
    }
    const before = (await call('GET', path)).json.result;
    const { schema } = DESCRIBED.paths[described].patch.requestBody.content['application/json'];
    const isService = path.startsWith(SERVICE) || path === ORGANIZATION;
    const members = Object.keys(resolveSchema(schema).properties).filter(
      (name) => before[name] !== undefined && !(isService && OTHER_FORMS.includes(name)),
    );
    expect(members).not.toEqual([]);
    const activities = await listActivities();
    const same = await call('PATCH', path, Object.fromEntries(members.map((name) => [name, before[name]])));
    expect(same.status, same.text).toBe(200);
    expect(toStored((await call('GET', path)).json.result)).toEqual(toStored(before));
    expect(await listActivities()).toEqual(activities);
  });
});

it('has every resource with GET and PATCH', () => {
  const both = Object.entries<Json>(DESCRIBED.paths).filter(([, { get, patch }]) => get && patch);
  // A member needs a sign-in with an identity provider; the members that a PATCH takes are its roles only.
  const known = [...Object.keys(PATCHED), '/v1/organizations/{organizationId}/members/{userId}'];
  expect(both.map(([path]) => path).sort()).toEqual(known.sort());
});

it('has every collection with a PUT, and each supports If-Match', () => {
  const { paths }: { paths: Record<string, Record<string, Json>> } = DESCRIBED;
  /** Not of this interface, only read, a query of a person that has no etag, or a list (`telemetry-rules.test.ts`). */
  const others = /\/connections\/|\/session\/|\/saved-queries\/|\/telemetryRules$/;
  const replaced = Object.entries(paths).filter(([path, { put }]) => put && !others.test(path));
  const collections = replaced.map(([path]) => path.split('/').at(-2) ?? '');
  expect([...new Set(collections)].sort()).toEqual(Object.keys(CONTENTS).sort());
  for (const [path, methods] of replaced)
    for (const method of ['put', 'delete'])
      expect(JSON.stringify(methods[method]?.parameters), `${method} ${path}`).toContain('"if-match"');
});
