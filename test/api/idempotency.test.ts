import { describe, expect, it } from 'vitest';
import type { ApiResponse, Call, Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { tile } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey, keysPath } from '../support/keys.ts';
import { isLongRun } from '../support/long-run.ts';
import { useServices } from '../support/running-service.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';
import { expectFailure } from '../support/shapes.ts';
import { blockChanges } from '../support/store-sql.ts';
import { readStoreText } from '../support/store-text.ts';

const HEADER = 'idempotency-key';
const keys = keysPath();
let counter = 0;
/** With every visible ASCII character. */
const newKey = () => `${String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 33 + index))}${counter++}`;

type Callable = { call(call: Call): Promise<ApiResponse> };

const post = (server: Callable, key: string, call: Partial<Call> = {}): Promise<ApiResponse> =>
  server.call({
    method: 'POST',
    path: keys,
    ...(call.path?.startsWith('/api/') ? { token: acme.writer } : { key: acme.admin }),
    ...call,
    headers: { [HEADER]: key, ...call.headers },
  });

const isReplayed = ({ headers }: ApiResponse) => headers.get('idempotency-replayed') === 'true';

/** Operations that only read, that are always rejected, that replace something, or whose events have ids of their own. */
const EXEMPT = [
  'usageEventsCreate',
  'usageLockCreate',
  'instanceCreatePreview',
  'instanceScalingPreview',
  'instanceQueryEndpointUpsert',
  'backupVerify',
  'scalingScheduleUpsert',
  'instanceReplicaScalingPreview',
  'validateDashboard',
  'clickStackValidateDashboard',
  'createConnection',
  'queryChartSeries',
  'queryEndpointRun',
  'drawTile',
  'searchRows',
  'searchHistogram',
  'listSearchFacets',
  'listSearchFacetValues',
  'searchContext',
  'exportSearch',
  'tailSearch',
  'listMetricPoints',
  'previewAlert',
  'silenceAlert',
  'acknowledgeAlert',
  'searchTraces',
  'listTraceOperations',
  'getServiceMap',
  'testWebhook',
  'rotateWebhookSecret',
  'sendNotificationAgain',
  'sqlRead',
  'sqlWrite',
  'consoleSignIn',
  'consoleSetup',
  'consoleInvitationGet',
  'consoleInvitationAccept',
  'consoleBackChannelSignOut',
];

const clickStack = `/v1/organizations/${acme.id}/services/${acme.secondary}/clickstack`;
/** In the path: the id of a key that the test finds by its name. */
const KEY_ID = '{keyId}';

/** In the path: the id of a service with a process, which the test creates. */
const EMBEDDED_ID = '{embeddedId}';

/** In the body: the id of a webhook that the test creates. */
const WEBHOOK_ID = '{webhookId}';
const ALERT = {
  source: 'condition',
  condition: 'budget_percent',
  interval: '1h',
  threshold: 80,
  thresholdType: 'above',
  channel: { type: 'webhook', webhookId: WEBHOOK_ID },
};
const HOOK = { name: 'one', service: 'generic', url: 'https://example.com/hook' };

const OPERATIONS: [string, Partial<Call>][] = [
  ['openapiKeyCreate', { body: { name: 'one', roles: ['developer'] } }],
  ['openapiKeyRotate', { path: `${keys}/${KEY_ID}/rotate`, body: { gracePeriodHours: 1 } }],
  [
    'instanceCreate',
    {
      path: `/v1/organizations/${acme.id}/services`,
      body: { name: 'one', provider: 'aws', region: 'us-east-1' },
    },
  ],
  ['backupCreate', { path: `/v1/organizations/${acme.id}/services/${EMBEDDED_ID}/backups` }],
  ['organizationRolePost', { path: `/v1/organizations/${acme.id}/roles`, body: { name: 'one' } }],
  ['dashboardTokenCreate', { path: `/v1/organizations/${acme.id}/dashboardTokens`, body: { name: 'one' } }],
  [
    'budgetCreate',
    {
      path: `/v1/organizations/${acme.id}/budgets`,
      body: { name: 'one', monthlyCHC: 10, webhook: { url: 'https://example.com/hook' } },
    },
  ],
  ['createDashboard', { path: '/api/v2/dashboards', body: { name: 'one', tiles: [tile()], tags: ['ä'] } }],
  ['createSource', { path: '/api/v2/sources', body: { name: 'one', kind: 'log' } }],
  ['clickStackCreateDashboard', { path: `${clickStack}/dashboards`, body: { name: 'one', tiles: [tile()] } }],
  ['clickStackCreateSource', { path: `${clickStack}/sources`, body: { name: 'one', kind: 'log' } }],
  ['createSavedSearch', { path: '/api/v2/saved-searches', body: { name: 'one', sourceId: 'logs' } }],
  ['clickStackCreateSavedSearch', { path: `${clickStack}/saved-searches`, body: { name: 'one', sourceId: 'logs' } }],
  ['createWebhook', { path: '/api/v2/webhooks', body: HOOK }],
  ['clickStackCreateWebhook', { path: `${clickStack}/webhooks`, body: { ...HOOK, name: 'two' } }],
  ['createAlert', { path: '/api/v2/alerts', body: ALERT }],
  ['clickStackCreateAlert', { path: `${clickStack}/alerts`, body: ALERT }],
  ['createDashboardLink', { path: `/api/v2/dashboards/${acme.dashboard}/links`, body: { expireInHours: 1 } }],
  ['invitationCreate', { path: `/v1/organizations/${acme.id}/invitations`, body: { email: 'one@example.com' } }],
  [
    'savedQueryCreate',
    {
      path: `/v1/organizations/${acme.id}/services/${acme.secondary}/saved-queries`,
      body: { name: 'one', sql: 'SELECT 1', database: 'default' },
    },
  ],
  ['createAnnotation', { path: '/api/v2/annotations', body: { title: 'one' } }],
  ['restoreDashboardVersion', { path: `/api/v2/dashboards/${acme.dashboard}/versions/1/restore` }],
];

onEachStore('Idempotency-Key', (store) => {
  const server = useServer(store, { sharedEngine: true, args: ['--max-keys', '1000', '--endpoint-ports', '0'] });
  const services = useServices(server);
  const countActivities = async (query: string): Promise<number> => {
    const path = `/v1/organizations/${acme.id}/activities?limit=1000&${query}`;
    return (await server.call({ path, key: acme.admin })).json.result.length;
  };
  const listKeys = async (name: string): Promise<Json[]> =>
    (await server.call({ path: keys, key: acme.admin })).json.result.filter((key: Json) => key.name === name);

  const findOrCreateWebhook = async (): Promise<string> => {
    const call = { path: '/api/v2/webhooks', token: acme.writer };
    const [existing] = (await server.call(call)).json.data;
    return (
      existing?.id ?? (await server.call({ ...call, method: 'POST', body: { ...HOOK, name: 'three' } })).json.data.id
    );
  };

  it('is supported by every operation that creates something, and by no other', async () => {
    const { paths } = (await server.call({ path: '/openapi.json' })).json;
    const posts = Object.values(paths as Json).flatMap(({ post: operation }: Json) => (operation ? [operation] : []));
    const supported = posts.filter(({ parameters = [] }) => parameters.some(({ name }: Json) => name === HEADER));
    expect(supported.map(({ operationId }) => operationId).sort()).toEqual(OPERATIONS.map(([name]) => name).sort());
    expect(posts.map(({ operationId }) => operationId).sort()).toEqual(
      [...OPERATIONS.map(([name]) => name), ...EXEMPT].sort(),
    );
  });

  it.each(OPERATIONS)(
    '%s: a repetition changes nothing and gets the same response, without secrets',
    async (_, operation) => {
      const [developer] = await listKeys('developer');
      const webhookId = await findOrCreateWebhook();
      const text = JSON.stringify(operation).replace(KEY_ID, developer.id).replace(WEBHOOK_ID, webhookId);
      const embeddedId = text.includes(EMBEDDED_ID) ? (await services.create()).id : '';
      const call = JSON.parse(text.replace(EMBEDDED_ID, embeddedId)) as Partial<Call>;
      const key = newKey();
      const first = await post(server, key, call);
      expect(first.status, first.text).toBe(200);
      expect(isReplayed(first)).toBe(false);
      const before = await countActivities('');
      const second = await post(server, key, call);
      expect(second.status, second.text).toBe(200);
      expect(isReplayed(second)).toBe(true);
      expect(await countActivities('')).toBe(before);
      expect(withoutSecrets(second.json)).toEqual(withoutSecrets(first.json));
      expect(second.json.requestId).toBe(
        call.path?.startsWith('/api/') ? undefined : second.headers.get('x-request-id'),
      );
      for (const header of ['etag', 'content-type', 'cache-control'])
        expect(second.headers.get(header), header).toBe(first.headers.get(header));
      const { keyId, keySecret, token, webhook, password, signingSecret } = first.json.result ?? first.json.data ?? {};
      const signing = [webhook?.secret, signingSecret];
      const link = (first.json.data ?? first.json.result)?.path?.split('#')[1];
      const secrets = [keyId, keySecret, token, password, link, ...signing].filter((secret) => secret !== undefined);
      const stored = await readStoreText(server);
      for (const secret of secrets) {
        expect(second.text).not.toContain(secret);
        // The secret of a webhook is stored: it signs alerts.
        if (!signing.includes(secret)) expect(stored).not.toContain(secret);
      }
    },
  );

  /** What differs between a response and its replay. */
  function withoutSecrets({ requestId, ...json }: Json): Json {
    if (json.data?.link) return { data: { link: json.data.link } };
    if (!json.result) return { ...json, ...(json.data && { data: { ...json.data, signingSecret: undefined } }) };
    const { keyId, keySecret, token, password, signingSecret, path, mail, ...result } = json.result;
    return { ...json, result: { ...result, ...(result.webhook ? { webhook: { url: result.webhook.url } } : {}) } };
  }

  it('a replayed creation has neither key id nor secret', async () => {
    const key = newKey();
    const { json } = await post(server, key, { body: { name: 'secret' } });
    expect(json.result).toMatchObject({ keyId: expect.any(String), keySecret: expect.any(String) });
    expect((await post(server, key, { body: { name: 'secret' } })).json.result).toEqual({ key: json.result.key });
  });

  it('422: the key was used with another body or another operation', async () => {
    const key = newKey();
    expect((await post(server, key, { body: { name: 'first' } })).status).toBe(200);
    const other = await post(server, key, { body: { name: 'second' } });
    expectFailure(keys, other, 422);
    expect(other.json.error).toMatch(/^UNPROCESSABLE_ENTITY: This Idempotency-Key was used/);
    expect((await post(server, key, { path: `/v1/organizations/${acme.id}/dashboardTokens` })).status).toBe(422);
    expect(await listKeys('second')).toEqual([]);
    // The same JSON in another notation is the same request.
    const again = await post(server, key, {
      text: '{ "name" : "\\u0066irst" }',
      headers: { 'content-type': 'application/json' },
    });
    expect([again.status, isReplayed(again)]).toEqual([200, true]);
  });

  it.each([
    ['empty', ''],
    ['with a space', 'a b'],
    ['too long', 'x'.repeat(256)],
    ['not ASCII', 'ä'],
  ])('400: a key that is %s', async (_, key) => {
    const response = await post(server, key, { body: { name: 'malformed' } });
    expectFailure(keys, response, 400);
    expect(response.json.error).toMatch(
      /^BAD_REQUEST: header\.idempotency-key: The value must be 1 to 255 visible ASCII characters/,
    );
    expect(await listKeys('malformed')).toEqual([]);
  });

  it('a rejected request is not kept: the client can correct it and use the same key', async () => {
    const key = newKey();
    expect((await post(server, key, { body: { name: '' } })).status).toBe(400);
    expect((await post(server, key, { body: { name: 'corrected' }, key: acme.developer })).status).toBe(403);
    const corrected = await post(server, key, { body: { name: 'corrected' } });
    expect([corrected.status, isReplayed(corrected)]).toEqual([200, false]);
    // Fails in the transaction of the change.
    const restore = (version: number): Partial<Call> => ({
      path: `/api/v2/dashboards/${acme.dashboard}/versions/${version}/restore`,
    });
    const other = newKey();
    expect((await post(server, other, restore(999))).status).toBe(404);
    expect((await post(server, other, restore(1))).status).toBe(200);
  });

  it('the same key of another caller is independent', async () => {
    const key = newKey();
    const body = { name: 'shared', roles: ['admin'] };
    const second = await createKey(server, { name: 'second admin', roles: ['admin'] });
    const responses = [
      await post(server, key, { body }),
      await post(server, key, { body, key: second.credentials }),
      await post(server, key, { body, key: globex.admin, path: keysPath(globex) }),
    ];
    expect(responses.map((response) => [response.status, isReplayed(response)])).toEqual(
      responses.map(() => [200, false]),
    );
    expect(new Set(responses.map(({ json }) => json.result.key.id)).size).toBe(3);
    // A session is the same caller as its key.
    const { headers } = await signIn(server, acme.admin);
    const { key: _, ...call } = { method: 'POST', path: keys, body, key: undefined };
    const session = await server.call({ ...call, headers: { ...headers, [HEADER]: key } });
    expect([session.status, isReplayed(session)]).toEqual([200, true]);
    expect(session.json.result.key.id).toBe(responses[0]?.json.result.key.id);
  });

  it('a response above 64 KiB is not kept, and the request is still executed once', async () => {
    const key = newKey();
    const tiles = Array.from({ length: 10 }, (_, y) => ({
      ...tile({ y: y * 4 }),
      series: [{ type: 'markdown', content: 'x'.repeat(10_000) }],
    }));
    const call = { path: '/api/v2/dashboards', body: { name: 'large once', tiles } };
    expect((await post(server, key, call)).status).toBe(200);
    const again = await post(server, key, call);
    expect([again.status, isReplayed(again), again.json.message]).toEqual([
      409,
      true,
      expect.stringContaining('too large to be kept'),
    ]);
    const { json } = await server.call({ path: '/api/v2/dashboards', token: acme.token });
    expect(json.data.filter(({ name }: Json) => name === 'large once')).toHaveLength(1);
  });

  describe('at the same time', () => {
    const expectStillRunning = (response: ApiResponse) => {
      expectFailure(keys, response, 409);
      expect(response.json.error).toMatch(/^CONFLICT: A request with this Idempotency-Key is still running/);
      expect(response.headers.get('retry-after')).toBe('1');
    };

    const expectOne = async (responses: ApiResponse[], name: string) => {
      const created = await listKeys(name);
      expect(created).toHaveLength(1);
      const first = responses.filter((response) => response.status === 200 && !isReplayed(response));
      expect(first).toHaveLength(1);
      for (const response of responses)
        if (response.status === 200) expect(response.json.result.key.id).toBe(created[0].id);
        else expectStillRunning(response);
    };

    it('409 with retry-after while the first request is running', async () => {
      const key = newKey();
      const release = await blockChanges(server);
      let responses: Promise<ApiResponse>[];
      try {
        responses = [1, 2].map(() => post(server, key, { body: { name: 'blocked' } }));
        expectStillRunning(await Promise.race(responses));
        expectFailure(keys, await post(server, key, { body: { name: 'other' } }), 422);
      } finally {
        await release();
      }
      await expectOne(await Promise.all(responses), 'blocked');
    });

    it('one of many requests is executed; the others get 409 or its response', async () => {
      const key = newKey();
      const call = { body: { name: 'parallel' } };
      await expectOne(await Promise.all(Array.from({ length: 20 }, () => post(server, key, call))), 'parallel');
      expect(isReplayed(await post(server, key, call))).toBe(true);
    });

    it('on two servers, the request is executed once', { timeout: 120_000 }, async () => {
      const second = await startSecondServer(server);
      try {
        for (let round = 0; round < (isLongRun ? 20 : 8); round++) {
          const key = newKey();
          const name = `two servers ${round}`;
          // With hashes, the second creation is rejected for another reason than the key: the id is taken.
          const hashData = {
            keyIdHash: Buffer.alloc(32, `${store} ${round}`).toString('base64'),
            keyIdSuffix: 'abcd',
            keySecretHash: Buffer.alloc(32, 'secret').toString('base64'),
          };
          const call = { body: round % 2 ? { name } : { name, hashData } };
          await expectOne(await Promise.all([server, second].map((target) => post(target, key, call))), name);
        }
      } finally {
        await second.stop();
      }
    });
  });
});

onEachStore('kept responses', (store) => {
  const server = useClockedServer(store);

  it('are replayed for 24 hours, also after a restart', async () => {
    const start = server.now;
    const key = newKey();
    const send = () => post(server, key, { body: { name: 'daily' } });
    const first = await send();
    expect(first.status, first.text).toBe(200);
    await server.restart();
    server.now = start + 24 * 60 * 60 * 1000 - 1;
    expect(isReplayed(await send())).toBe(true);
    server.now++;
    const next = await send();
    expect([next.status, isReplayed(next)]).toEqual([200, false]);
    expect(next.json.result.key.id).not.toBe(first.json.result.key.id);
    expect(isReplayed(await send())).toBe(true);
  });
});
