import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse, Json } from '../support/client.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, globex } from '../support/fleet.ts';
import { TROUBLESOME } from '../support/hostile.ts';
import { useServer } from '../support/server.ts';
import { HOSTILE_EXPRESSIONS } from './expressions.ts';
import { createRandom, type Random } from './random.ts';

const T0 = Date.now() - 3_600_000;
const SECRET = 'globex-secret-needle';
/** `npm run hostile` sends 2,000 requests, `npm test` a part of them. */
const REQUESTS = process.env.HOSTILE_REQUESTS === undefined ? 250 : 2000;
const SEED = Number(process.env.HOSTILE_SEED ?? 12);
const EXPRESSIONS = HOSTILE_EXPRESSIONS.map(({ text }) => text);
const TEMPLATES = [
  '{{#each alert}}{{this}}{{/each}}',
  '{{constructor.constructor}}',
  '{{__proto__}}',
  '{{#if',
  '{{{{raw}}}}',
  '{{lookup this "x"}}',
  'x'.repeat(600),
  `${'{{#if a}}'.repeat(60)}${'{{/if}}'.repeat(60)}`,
];

const row = (OrganizationId: string, text: string, ms: number) => ({
  OrganizationId,
  Timestamp: new Date(T0 + ms).toISOString(),
  ServiceName: text,
  Body: text,
});

interface Ids {
  savedSearchId: string;
  webhookId: string;
  dashboardId: string;
  alertId: string;
}

/** Valid members with hostile ones among them. Ids of the other organization are never valid. */
function createAlertBody(random: Random, ours: Ids, theirs: Ids): Record<string, unknown> {
  const pickId = (name: keyof Ids) => (random.chance(0.9) ? ours : theirs)[name];
  const source = random.pick(['saved_search', 'saved_search', 'saved_search', 'tile', 'metric', 'condition', 'x']);
  const expression = () => random.pick(EXPRESSIONS);
  return {
    source,
    savedSearchId: pickId('savedSearchId'),
    ...(source === 'tile' && { dashboardId: pickId('dashboardId'), tileId: random.pick(['one', 'x', '']) }),
    ...(source === 'metric' && {
      metric: {
        type: 'time',
        sourceId: random.pick(['logs', 'metrics', 'nothing']),
        aggFn: random.pick(['count', 'max', 'x']),
        field: expression(),
        where: random.chance(0.5) ? '' : expression(),
        groupBy: [],
      },
    }),
    ...(source === 'condition' && { condition: random.pick(['key_expiry_days', 'budget_percent', 'x']) }),
    ...(random.chance(0.5) && { groupBy: random.chance(0.7) ? 'ServiceName' : expression() }),
    interval: random.pick(['1m', '5m', '15m', '1h', '6h', '1d', '2m']),
    threshold: random.pick([0, 1, -1e308, 5e-324]),
    thresholdType: random.pick(['above', 'below', 'equal', 'between', 'not_between', 'x']),
    thresholdMax: random.pick([1e308, 1e308, 0, null]),
    channel: { type: 'webhook', webhookId: pickId('webhookId') },
    ...(random.chance(0.2) && { name: random.pick(TEMPLATES), message: random.pick(TEMPLATES) }),
    ...(random.chance(0.1) && { scheduleOffsetMinutes: random.pick([0, 1, 59, 1439, 1440]) }),
    ...(random.chance(0.1) && { scheduleStartAt: random.pick(['2026-01-01T00:00:00Z', '9999-01-01T00:00:00Z', 'x']) }),
    ...(random.chance(0.1) && { pendingMinutes: random.pick([0, 10_080, 10_081, -1]) }),
    ...(random.chance(0.1) && {
      quietHours: {
        timezone: random.pick(['UTC', '../etc/passwd', 'Europe/Berlin']),
        ranges: [{ start: random.pick(['00:00', '24:00', '\u0000']), end: '23:59' }],
      },
    }),
    ...(random.chance(0.1) && { labels: { [random.pick(['a', '__proto__', ''])]: 'x' } }),
  };
}

function createWebhookBody(random: Random): Record<string, unknown> {
  return {
    name: `hook ${random.integer(0, 1e9)}`,
    service: random.pick(['generic', 'generic', 'generic', 'slack', 'teams', 'pagerduty', 'email', 'incidentio', 'x']),
    url: random.pick([
      'https://example.com/a',
      'https://example.com/b',
      'https://example.com/hook',
      'http://127.0.0.1/',
      'http://[::1]/',
      'https://169.254.169.254/latest',
      'https://user:secret@example.com/',
      'file:///etc/passwd',
      'https://example.com\r\nx: y',
    ]),
    ...(random.chance(0.2) && { body: random.pick(TEMPLATES) }),
    ...(random.chance(0.2) && { headers: { [random.pick(['x-a', 'host', 'x\r\ny', '__proto__'])]: 'v\r\n' } }),
    ...(random.chance(0.2) && { routingKey: 'k'.repeat(random.pick([1, 32, 5000])), to: ['a@b\r\nBcc: x@y'] }),
  };
}

/** One or two members have a value of any kind. */
function damage(random: Random, body: Record<string, unknown>): Record<string, unknown> {
  if (random.chance(0.5)) return body;
  return { ...body, [random.pick([...Object.keys(body), 'id', 'extra', 'channels'])]: random.pick(TROUBLESOME) };
}

describe('hostile alerts and webhooks', () => {
  const server = useServer('libsql');
  const send = (method: string, path: string, body?: unknown, token = acme.writer): Promise<ApiResponse> =>
    server.call({ method, path: `/api/v2/${path}`, token, ...(body !== undefined && { body }) });

  async function prepare(organization: typeof acme | typeof globex): Promise<Ids> {
    const create = async (path: string, body: object): Promise<string> => {
      const { status, json, text } = await send('POST', path, body, organization.writer);
      expect(status, text).toBe(200);
      return json.data.id;
    };
    const savedSearchId = await create('saved-searches', { name: SECRET, sourceId: 'logs' });
    const webhook = { name: SECRET, service: 'generic', url: 'https://example.com/hook' };
    const webhookId = await create('webhooks', webhook);
    const alertId = await create('alerts', {
      savedSearchId,
      channel: { type: 'webhook', webhookId },
      interval: '1h',
      threshold: 1000,
      thresholdType: 'above',
      name: SECRET,
    });
    return { savedSearchId, webhookId, dashboardId: organization.dashboard, alertId };
  }

  let [ours, theirs] = [{} as Ids, {} as Ids];
  beforeAll(async () => {
    await fillEngine(join(server.directory, 'data'), {
      otel_logs: [
        row(acme.id, 'ours', 0),
        row(acme.id, 'ours', 1),
        row(globex.id, SECRET, 0),
        row(globex.id, SECRET, 1),
      ],
    });
    ours = await prepare(acme);
    theirs = await prepare(globex);
  });

  it(`none of ${REQUESTS} reads another organization or causes a failure`, async () => {
    const random = createRandom(SEED);
    const statuses: Record<number, number> = {};
    const before = (await send('GET', `alerts/${theirs.alertId}`, undefined, globex.writer)).json.data;
    for (let count = 0; count < REQUESTS; count++) {
      const alert = damage(random, createAlertBody(random, ours, theirs));
      const [method, path, body] = random.pick<[string, string, unknown]>([
        ['POST', 'alerts', alert],
        ['PUT', `alerts/${ours.alertId}`, alert],
        ['POST', 'alerts/preview', { alert, days: random.pick([1, 1, 30, 31]) }],
        ['POST', 'webhooks', damage(random, createWebhookBody(random))],
        ['PUT', `webhooks/${ours.webhookId}`, damage(random, createWebhookBody(random))],
        [
          'POST',
          `alerts/${ours.alertId}/silence`,
          { until: random.pick(TROUBLESOME), reason: random.pick(TROUBLESOME) },
        ],
      ]);
      const response = await send(method, path, body);
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      const about = `${method} ${path} ${JSON.stringify(body).slice(0, 600)}: ${response.text.slice(0, 300)}`;
      expect([200, 400, 404, 409], about).toContain(response.status);
      if (path === 'alerts/preview') expect(response.text, about).not.toContain(SECRET);
      if (response.status === 200) expectOwnIds(response.json.data, about);
      else expect(response.text, about).not.toMatch(/root:|chdb|Stack trace|DB::/);
      const created = method === 'POST' && response.status === 200 && (response.json.data as Json).id;
      if (created && path !== `alerts/${ours.alertId}/silence`) await send('DELETE', `${path}/${created}`);
    }
    expect(statuses[200], JSON.stringify(statuses)).toBeGreaterThan(REQUESTS / 20);
    const after = (await send('GET', `alerts/${theirs.alertId}`, undefined, globex.writer)).json.data;
    expect(after.updatedAt).toBe(before.updatedAt);
  }, 1_200_000);

  function expectOwnIds(data: Json, about: string): void {
    const text = JSON.stringify(data);
    expect(text.includes(theirs.savedSearchId) || text.includes(theirs.webhookId), about).toBe(false);
    expect(data.dashboardId === theirs.dashboardId, about).toBe(false);
  }

  it.each<[string, string, object?]>([
    ['GET', ''],
    ['PUT', '', {}],
    ['DELETE', ''],
    ['GET', '/groups'],
    ['GET', '/evaluations'],
    ['POST', '/silence', { until: new Date(Date.now() + 3_600_000).toISOString() }],
    ['DELETE', '/silence'],
    ['POST', '/acknowledge'],
  ])('%s of an alert of another organization%s is not found', async (method, suffix, body) => {
    const full = { ...body, ...(method === 'PUT' && { ...(await send('GET', `alerts/${ours.alertId}`)).json.data }) };
    for (const name of READ_ONLY) delete (full as Json)[name];
    const given = body === undefined ? undefined : full;
    const response = await send(method, `alerts/${theirs.alertId}${suffix}`, given);
    expect([response.status, response.json]).toEqual([404, { message: 'Alert not found' }]);
  });
});

const READ_ONLY = [
  'id',
  'teamId',
  'state',
  'status',
  'statusSince',
  'executionErrors',
  'firingGroups',
  'lastValue',
  'evaluatedUntil',
  'silenced',
  'createdAt',
  'updatedAt',
];
