import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ApiResponse } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createIngestToken } from '../support/ingest.ts';
import { createKey, getKeyId } from '../support/keys.ts';
import { getInvitationsPath, getMembersPath, invite, join } from '../support/members.ts';
import { formatPath, listOperations, type Operation } from '../support/operations.ts';
import { send } from '../support/otlp-client.ts';
import { span, toRequest } from '../support/otlp-requests.ts';
import { onEachStore, type TestServer, useServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const ALERT = {
  source: 'condition',
  condition: 'budget_percent',
  interval: '1h',
  threshold: 80,
  thresholdType: 'above',
};
const UNKNOWN_CHANNEL = { channel: { type: 'webhook', webhookId: 'f'.repeat(24) } };
const HOOK = { name: 'Globex webhook', service: 'generic', url: 'https://globex.example.com/hook' };

/** A body that would have an effect if the request were accepted. */
const BODIES: Record<string, object> = {
  instanceScalingUpdate: { numReplicas: 7 },
  instanceReplicaScalingUpdate: { numReplicas: 7 },
  openapiKeyCreate: { name: 'intruder', roles: ['admin'] },
  openapiKeyUpdate: { name: 'intruder', state: 'disabled' },
  dashboardTokenCreate: { name: 'intruder', access: 'write' },
  createDashboard: { name: 'intruder' },
  queryChartSeries: {
    series: [{ sourceId: 'logs', aggFn: 'count' }],
    startTime: 1_700_000_000_000,
    endTime: 1_700_000_060_000,
  },
  drawTile: { series: [{ type: 'number', aggFn: 'count', sourceId: 'logs' }] },
  updateDashboard: { name: 'intruder' },
  createSource: { name: 'intruder', kind: 'log' },
  updateSource: { name: 'intruder', kind: 'log' },
  clickStackCreateDashboard: { name: 'intruder' },
  clickStackUpdateDashboard: { name: 'intruder' },
  clickStackCreateSource: { name: 'intruder', kind: 'log' },
  clickStackUpdateSource: { name: 'intruder', kind: 'log' },
  createSavedSearch: { name: 'intruder', sourceId: 'logs' },
  updateSavedSearch: { name: 'intruder', sourceId: 'logs' },
  clickStackCreateSavedSearch: { name: 'intruder', sourceId: 'logs' },
  clickStackUpdateSavedSearch: { name: 'intruder', sourceId: 'logs' },
  createAlert: { ...ALERT, ...UNKNOWN_CHANNEL },
  updateAlert: { ...ALERT, ...UNKNOWN_CHANNEL },
  clickStackCreateAlert: { ...ALERT, ...UNKNOWN_CHANNEL },
  clickStackUpdateAlert: { ...ALERT, ...UNKNOWN_CHANNEL },
  previewAlert: { alert: { ...ALERT, ...UNKNOWN_CHANNEL } },
  silenceAlert: { until: new Date(Date.now() + 3_600_000).toISOString() },
  createWebhook: { ...HOOK, name: 'intruder' },
  updateWebhook: { ...HOOK, name: 'intruder' },
  clickStackCreateWebhook: { ...HOOK, name: 'intruder' },
  clickStackUpdateWebhook: { ...HOOK, name: 'intruder' },
  createDashboardLink: { expireInHours: 1 },
  createAnnotation: { title: 'intruder' },
  searchRows: { sourceId: 'logs' },
  searchHistogram: { sourceId: 'logs' },
  listSearchFacets: { sourceId: 'logs' },
  listSearchFacetValues: { sourceId: 'logs', fields: ['ServiceName'] },
  searchContext: { sourceId: 'logs', time: '2026-11-17T10:00:00Z' },
  exportSearch: { sourceId: 'logs', format: 'csv' },
  tailSearch: { sourceId: 'logs' },
  listMetricPoints: { metricName: 'x', metricDataType: 'gauge' },
  instanceScalingPreview: { numReplicas: 7 },
  instanceReplicaScalingPreview: { numReplicas: 7 },
  budgetCreate: { name: 'intruder', monthlyCHC: 1 },
  budgetUpdate: { name: 'intruder', monthlyCHC: 1 },
  organizationRolePost: { name: 'intruder' },
  invitationCreate: { email: 'intruder@example.com', role: 'admin' },
  memberUpdate: { role: 'admin' },
  organizationRolePatch: { name: 'intruder' },
  instanceCreate: { name: 'intruder', provider: 'aws', region: 'us-east-1', ipAccessList: [] },
  instanceCreatePreview: { provider: 'aws', region: 'us-east-1' },
  instanceUpdate: { name: 'intruder' },
  instanceStateUpdate: { command: 'stop' },
  backupConfigurationUpdate: { backupPeriodInHours: 12 },
  instanceQueryEndpointUpsert: { roles: ['sql_console_read_only'], openApiKeys: [randomUUID()] },
  scalingScheduleUpsert: { entries: [] },
  sqlRead: { sql: 'SELECT 1' },
  sqlWrite: { sql: 'SELECT 1' },
  savedQueryCreate: { name: 'intruder', sql: 'SELECT 1', database: '' },
  savedQueryUpdate: { name: 'intruder', sql: 'SELECT 1', database: '' },
  instanceAutoscalingUpdate: { mode: 'off' },
};

type Owner = typeof acme | typeof globex;

/** Unlike dashboards and sources, these have no id that a fleet file sets. By the beginning of the path: the parameter with the id. */
const OTHER_IDS: Record<string, string> = {
  '/api/v2/saved-searches': 'clickStackSavedSearchId',
  '/api/v2/alerts': 'clickStackAlertId',
  '/api/v2/webhooks': 'clickStackWebhookId',
  '/api/v2/notifications': 'notificationId',
  '/api/v2/annotations': 'annotationId',
};

function withOtherId(path: string, values: Record<string, string>): Record<string, string> {
  const [, parameter] = Object.entries(OTHER_IDS).find(([start]) => path.startsWith(start)) ?? [];
  return parameter === undefined ? values : { ...values, id: values[parameter] ?? '' };
}

const call = (
  server: TestServer,
  operation: Operation,
  values: Record<string, string>,
  owner: Owner = acme,
): Promise<ApiResponse> => {
  const { id, method, path } = operation;
  const credentials = path.startsWith('/v1') ? { key: owner.admin } : { token: owner.writer };
  return server.call({
    method,
    path: formatPath(operation, withOtherId(path, values)),
    ...credentials,
    ...(BODIES[id] ? { body: BODIES[id] } : {}),
  });
};

/** The response without the parts that must differ: the request id and the requested ids. */
const withoutIds = ({ status, text, json }: ApiResponse, values: Record<string, string>) => {
  const ids = [json.requestId, ...Object.values(values)].filter((id) => id !== undefined);
  // A short id may be part of a longer one.
  ids.sort((a, b) => b.length - a.length);
  return [status, ids.reduce((rest, id) => rest.replaceAll(id, '…'), text)];
};

/** One id of each kind of resource of Globex, by path parameter. */
async function listGlobexIds(server: TestServer): Promise<Record<string, string>> {
  const activities = await server.call({ path: `/v1/organizations/${globex.id}/activities`, key: globex.admin });
  const tokens = await server.call({ path: `/v1/organizations/${globex.id}/dashboardTokens`, key: globex.admin });
  return {
    organizationId: globex.id,
    serviceId: globex.primary,
    keyId: await getKeyId(server, 'admin', globex),
    activityId: activities.json.result[0].id,
    tokenId: tokens.json.result[0].id,
    budgetId: await findOrCreateGlobexBudget(server),
    roleId: await findOrCreateGlobexRole(server),
    backupId: await findOrInsertGlobexBackup(server),
    id: globex.dashboard,
    clickStackDashboardId: globex.dashboard,
    clickStackSourceId: globex.dashboard,
    clickStackSavedSearchId: await findOrCreateGlobexSearch(server),
    clickStackWebhookId: await findOrCreateGlobexWebhook(server),
    clickStackAlertId: await findOrCreateGlobexAlert(server),
    notificationId: randomUUID(),
    ...(await findOrCreateGlobexMember(server)),
    linkId: await findOrCreateGlobexLink(server),
    annotationId: await findOrCreateGlobexAnnotation(server),
    queryId: await findOrCreateGlobexQuery(server),
    tileId: 'one',
    version: '1',
    traceId: await findOrCreateGlobexTrace(server),
  };
}

/** A trace of Globex; sent if it does not exist. */
async function findOrCreateGlobexTrace(server: TestServer): Promise<string> {
  const traceId = '5b8efff798038103d269b633813fc60c';
  const path = `/api/v2/traces/${traceId}`;
  if ((await server.call({ path, token: globex.token })).status === 200) return traceId;
  const authorization = await createIngestToken(server.url, globex);
  const request = toRequest('traces', [span(Date.now(), { traceId })]);
  expect((await send({ url: `${server.url}/otlp`, authorization }, 'traces', request)).status).toBe(200);
  return traceId;
}

/** A member of Globex with a session, and an invitation; created if they do not exist. */
async function findOrCreateGlobexMember(server: TestServer) {
  const key = globex.admin;
  const invitations = (await server.call({ path: getInvitationsPath(globex), key })).json.result;
  const members = (await server.call({ path: getMembersPath(globex), key })).json.result;
  const invitation = invitations[0] ?? (await invite(server, globex, 'open@globex.example')).invitation;
  const userId = members[0]?.userId ?? (await join(server, globex, 'hank@globex.example')).userId;
  const sessions = await server.call({ path: `${getMembersPath(globex)}/${userId}/sessions`, key });
  return { invitationId: invitation.id, userId, sessionId: sessions.json.result[0].id };
}

/** The budget of Globex; created if it does not exist. */
async function findOrCreateGlobexBudget(server: TestServer): Promise<string> {
  const path = `/v1/organizations/${globex.id}/budgets`;
  const [existing] = (await server.call({ path, key: globex.admin })).json.result;
  if (existing) return existing.id;
  const body = { name: 'Globex budget', monthlyCHC: 1_000_000 };
  return (await server.call({ method: 'POST', path, key: globex.admin, body })).json.result.id;
}

/** A backup of Globex, whose files are on another node; stored if it does not exist. */
async function findOrInsertGlobexBackup(server: TestServer): Promise<string> {
  const path = `/v1/organizations/${globex.id}/services/${globex.primary}/backups`;
  const [existing] = (await server.call({ path, key: globex.admin })).json.result;
  if (existing) return existing.id;
  const id = randomUUID();
  const document = JSON.stringify({ serviceName: 'Globex service', retentionHours: 24 });
  await runSql(
    server,
    `INSERT INTO service_backups (organization_id, id, service_id, chain_id, directory_id, status, started_at, size_bytes, document)
     VALUES ('${globex.id}', '${id}', '${globex.primary}', '${id}', 'another', 'done', 1, 1, '${document}')`,
  );
  return id;
}

/** A saved query of Globex; created if it does not exist. */
async function findOrCreateGlobexQuery(server: TestServer): Promise<string> {
  const path = `/v1/organizations/${globex.id}/services/${globex.primary}/saved-queries`;
  const [existing] = (await server.call({ path, key: globex.admin })).json.result;
  if (existing) return existing.id;
  const body = { name: 'Globex query', sql: 'SELECT 1', database: '' };
  return (await server.call({ method: 'POST', path, key: globex.admin, body })).json.result.id;
}

/** A saved search of Globex; created if it does not exist. */
async function findOrCreateGlobexSearch(server: TestServer): Promise<string> {
  const path = '/api/v2/saved-searches';
  const [existing] = (await server.call({ path, token: globex.writer })).json.data;
  if (existing) return existing.id;
  const body = { name: 'Globex search', sourceId: 'logs' };
  return (await server.call({ method: 'POST', path, token: globex.writer, body })).json.data.id;
}

/** A webhook of Globex; created if it does not exist. */
async function findOrCreateGlobexWebhook(server: TestServer): Promise<string> {
  const path = '/api/v2/webhooks';
  const [existing] = (await server.call({ path, token: globex.writer })).json.data;
  if (existing) return existing.id;
  return (await server.call({ method: 'POST', path, token: globex.writer, body: HOOK })).json.data.id;
}

/** An alert of Globex; created if it does not exist. */
async function findOrCreateGlobexAlert(server: TestServer): Promise<string> {
  const path = '/api/v2/alerts';
  const [existing] = (await server.call({ path, token: globex.writer })).json.data;
  if (existing) return existing.id;
  const body = { ...ALERT, channel: { type: 'webhook', webhookId: await findOrCreateGlobexWebhook(server) } };
  return (await server.call({ method: 'POST', path, token: globex.writer, body })).json.data.id;
}

/** A link to a dashboard of Globex; created if it does not exist. */
async function findOrCreateGlobexLink(server: TestServer): Promise<string> {
  const path = `/api/v2/dashboards/${globex.dashboard}/links`;
  const [existing] = (await server.call({ path, token: globex.writer })).json.data;
  if (existing) return existing.id;
  const body = { name: 'Globex link', expireInHours: 1 };
  return (await server.call({ method: 'POST', path, token: globex.writer, body })).json.data.link.id;
}

/** An annotation of Globex; created if it does not exist. */
async function findOrCreateGlobexAnnotation(server: TestServer): Promise<string> {
  const path = '/api/v2/annotations';
  const existing = (await server.call({ path, token: globex.writer })).json.data.find(
    ({ kind }: { kind: string }) => kind === 'deploy',
  );
  if (existing) return existing.id;
  const body = { title: 'Globex deploy' };
  return (await server.call({ method: 'POST', path, token: globex.writer, body })).json.data.id;
}

/** A custom role of Globex; created if it does not exist. */
async function findOrCreateGlobexRole(server: TestServer): Promise<string> {
  const path = `/v1/organizations/${globex.id}/roles`;
  const { result } = (await server.call({ path, key: globex.admin })).json;
  const existing = result.find(({ type }: { type: string }) => type === 'custom');
  if (existing) return existing.id;
  return (await server.call({ method: 'POST', path, key: globex.admin, body: { name: 'Globex role' } })).json.result.id;
}

/** Everything that Globex can read. */
async function readGlobex(server: TestServer): Promise<unknown[]> {
  const paths = [
    '',
    '/services',
    '/keys',
    '/activities',
    '/dashboardTokens',
    '/budgets',
    '/roles',
    `/services/${globex.primary}/saved-queries`,
    '/usageCost?from_date=2026-10-01&to_date=2026-10-31',
  ];
  const responses = await Promise.all(
    paths.map((path) => server.call({ path: `/v1/organizations/${globex.id}${path}`, key: globex.admin })),
  );
  const results = responses.map(({ json }) =>
    JSON.parse(JSON.stringify(json.result, (name, value) => (name === 'usedAt' ? undefined : value))),
  );
  const dashboardPaths = [
    '/dashboards',
    '/sources',
    '/saved-searches',
    '/webhooks',
    '/alerts',
    '/annotations?start=1700000000000',
    ...['versions', 'links'].map((part) => `/dashboards/${globex.dashboard}/${part}`),
  ];
  const dashboardResults = await Promise.all(
    dashboardPaths.map(async (path) => (await server.call({ path: `/api/v2${path}`, token: globex.token })).json),
  );
  return [...results, ...dashboardResults];
}

onEachStore('tenancy', (store) => {
  const server = useServer(store);
  // All organizations have the same connection, and none has a trace.
  const allOperations = async () =>
    [...(await listOperations(server, '/v1')), ...(await listOperations(server, '/api/v2'))].filter(
      ({ path }) => !path.startsWith('/api/v2/connections') && !path.startsWith('/api/v2/traces/{'),
    );

  it('R1, R2: Globex finds all of its resources used in the following tests', async () => {
    const ids = await listGlobexIds(server);
    for (const operation of await allOperations()) {
      // A service has no query endpoint until one is created.
      if (operation.method !== 'GET' || operation.id === 'instanceQueryEndpointGet') continue;
      expect((await call(server, operation, ids, globex)).status, operation.path).toBe(200);
    }
  });

  it('M4: every operation treats another organization like a missing one', async () => {
    const before = await readGlobex(server);
    const ids = await listGlobexIds(server);
    const operations = (await allOperations()).filter(({ parameters }) => parameters.includes('organizationId'));
    expect(operations.length).toBeGreaterThan(10);
    for (const operation of operations) {
      const unknown = { ...ids, organizationId: randomUUID() };
      const response = await call(server, operation, ids);
      expect(response.status, operation.path).toBe(404);
      expect(response.json.error).toBe(`NOT_FOUND: organization ${globex.id} does not exist`);
      expect(withoutIds(response, ids)).toEqual(withoutIds(await call(server, operation, unknown), unknown));
    }
    expect(await readGlobex(server)).toEqual(before);
  });

  it('M4, D1: every operation treats a resource of another organization like a missing one', async () => {
    const before = await readGlobex(server);
    const own = { ...(await listGlobexIds(server)), organizationId: acme.id };
    const operations = (await allOperations()).filter(({ parameters }) =>
      parameters.some((name) => name !== 'organizationId'),
    );
    expect(operations.length).toBeGreaterThan(6);
    for (const operation of operations) {
      const unknown = {
        organizationId: acme.id,
        serviceId: randomUUID(),
        keyId: randomUUID(),
        activityId: randomUUID(),
        tokenId: randomUUID(),
        linkId: randomUUID(),
        userId: randomUUID(),
        invitationId: randomUUID(),
        sessionId: randomUUID(),
        budgetId: randomUUID(),
        backupId: randomUUID(),
        roleId: randomUUID(),
        queryId: randomUUID(),
        clickStackDashboardId: 'f'.repeat(24),
        clickStackSourceId: 'f'.repeat(24),
        clickStackWebhookId: 'f'.repeat(24),
        notificationId: randomUUID(),
        id: 'f'.repeat(24),
        tileId: 'one',
        version: '1',
        traceId: 'f'.repeat(32),
      };
      const response = await call(server, operation, own);
      expect(response.status, operation.path).toBe(404);
      expect(withoutIds(response, own)).toEqual(withoutIds(await call(server, operation, unknown), unknown));
    }
    expect(await readGlobex(server)).toEqual(before);
  });

  it('R1, R2: no list contains resources of another organization', async () => {
    await createKey(server, { name: 'Globex key' }, globex);
    const { id: _, version: __, tileId: ___, ...ids } = await listGlobexIds(server);
    const lists = (await allOperations()).filter(
      ({ method, parameters }) => method === 'GET' && parameters.every((name) => name === 'organizationId'),
    );
    expect(lists.length).toBeGreaterThan(5);
    for (const operation of lists) {
      const { status, text } = await call(server, operation, { organizationId: acme.id });
      expect(status, operation.path).toBe(200);
      for (const response of [...Object.values(ids), globex.dashboard, 'Globex', '99.5'])
        expect(text, operation.path).not.toContain(response);
    }
  });

  it('M4: an organization id in upper case refers to the same organization', async () => {
    expect((await server.call({ path: `/v1/organizations/${acme.id.toUpperCase()}`, key: acme.admin })).status).toBe(
      200,
    );
    const { status, json } = await server.call({
      path: `/v1/organizations/${globex.id.toUpperCase()}`,
      key: acme.admin,
    });
    expect([status, json.error]).toEqual([404, `NOT_FOUND: organization ${globex.id} does not exist`]);
  });

  it('R1: paging through activities stays within the organization', async () => {
    const { activityId } = await listGlobexIds(server);
    const { status, json } = await server.call({
      path: `/v1/organizations/${acme.id}/activities?before=${activityId}`,
      key: acme.admin,
    });
    expect(status).toBe(200);
    for (const { organizationId } of json.result) expect(organizationId).toBe(acme.id);
  });

  it('R2: a token is rejected by the management API, and a key by the dashboard API', async () => {
    const { keyId, keySecret } = acme.admin;
    expect((await server.call({ path: '/v1/organizations', token: acme.token })).status).toBe(401);
    expect(
      (await server.call({ path: '/v1/organizations', key: { keyId: acme.token, keySecret: acme.token } })).status,
    ).toBe(401);
    for (const token of [keyId, keySecret])
      expect((await server.call({ path: '/api/v2/dashboards', token })).status).toBe(401);
  });
});
