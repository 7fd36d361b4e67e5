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
    { kind: 'session' },
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
      const { json } = await send('GET', '?limit=1000');
      const one = await send('GET', `/${id}`);
      const listed = (json.data ?? json.result).find((item: Json) => item.id === id);
      // Lists of dashboards leave out the tiles.
      return one.status === 200 ? (one.json.data ?? one.json.result) : listed;
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
    expect(await find(id)).toEqual(before);
    expect(await countActivities()).toBe(activities);

    // Secrets are not returned, and kept.
    const { headers: _h, queryParams: _q, routingKey: _r, ...visible } = content;
    expect(before).toMatchObject(resource === 'dashboards' ? { tags: content.tags } : visible);

    const stale = { 'if-match': '"stale"' };
    const changed = { ...before, name: `${name} changed` };
    expect((await send('PUT', `/${id}`, changed, stale)).status).toBe(412);
    expect((await send('DELETE', `/${id}`, undefined, stale)).status).toBe(412);
    expect(await find(id)).toEqual(before);
    const renamed = await send('PUT', `/${id}`, changed, { 'if-match': etag });
    expect(renamed.status, renamed.text).toBe(200);
    expect((await send('PUT', `/${id}`, changed, { 'if-match': etag })).status).toBe(412);
    expect((await send('DELETE', `/${id}`, undefined, { 'if-match': renamed.headers.get('etag') ?? '' })).status).toBe(
      200,
    );
  });
});

it('has every collection with a PUT, and each supports If-Match', () => {
  const { paths }: { paths: Record<string, Record<string, Json>> } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'),
  );
  /** Not of this interface, only read, or a query of a person that has no etag. */
  const others = /\/connections\/|\/session\/|\/saved-queries\//;
  const replaced = Object.entries(paths).filter(([path, { put }]) => put && !others.test(path));
  const collections = replaced.map(([path]) => path.split('/').at(-2) ?? '');
  expect([...new Set(collections)].sort()).toEqual(Object.keys(CONTENTS).sort());
  for (const [path, methods] of replaced)
    for (const method of ['put', 'delete'])
      expect(JSON.stringify(methods[method]?.parameters), `${method} ${path}`).toContain('"if-match"');
});
