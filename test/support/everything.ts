import { expect } from 'vitest';
import type { ApiResponse, Call, Credentials, Json } from './client.ts';

interface Owner {
  id: string;
  admin: Credentials;
  token?: string;
}

interface Target {
  url: string;
  call(call: Call): Promise<ApiResponse>;
}

const DAY_MS = 86_400_000;
const formatDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Members that differ between two servers with the same data. */
// The size and the sample of telemetry depend on how far its parts are merged.
const VOLATILE = new Set(['requestId', 'ratedAt', 'asOf', 'targets', 'recommendation', 'bytesOnDisk', 'attributeKeys']);
/** Stored up to 250 ms after the first use of a credential, so reading everything changes it. */
const LAST_USE = ['usedAt', 'lastSeenAt'];
/** The bucket of a chart that contains the current time ends at the time of the request. */
const PARTIAL_BUCKETS = 'partialBuckets';

/** A service may have none. */
const OPTIONAL_PARTS = ['serviceQueryEndpoint'];
const SERVICE_PARTS = [
  'privateEndpointConfig',
  'backupConfiguration',
  'backups',
  'scalingSchedule',
  'autoscaling',
  'autoscaling/decisions',
  'autoscaling/history',
  'idle',
  'prometheus',
  'logs',
  'slowQueries',
  'sql/history',
  ...OPTIONAL_PARTS,
];

/** Reading everything includes an export, which is an activity. */
function dropExports(template: string, json: Json): void {
  if (template.endsWith('/activities'))
    json.result = json.result.filter(({ activityType }: Json) => activityType !== 'data_export');
}

/** The responses of every documented GET operation, for every resource of the organizations. */
export async function readEverything(server: Target, owners: readonly Owner[]): Promise<Record<string, unknown>> {
  const responses: Record<string, unknown> = {};
  const covered = new Set<string>();
  const today = Date.parse(formatDay(Date.now()));
  const window = `from_date=${formatDay(today - 20 * DAY_MS)}&to_date=${formatDay(today + 3 * DAY_MS)}`;
  const range = `start=${today - 20 * DAY_MS}&end=${today + 3 * DAY_MS}`;
  const queries: Record<string, string> = {
    '/v1/organizations/{organizationId}/usageCost': window,
    '/v1/organizations/{organizationId}/usageCost/summary': `${window}&by=day&group=entity`,
    '/v1/organizations/{organizationId}/usageCost/export': window,
    '/v1/organizations/{organizationId}/activities': 'limit=1000',
    '/v1/organizations/{organizationId}/services/{serviceId}/autoscaling/history': `from=${formatDay(today - DAY_MS)}T00:00:00Z&to=${formatDay(today)}T00:00:00Z`,
    '/v1/organizations/{organizationId}/telemetry': `from=${formatDay(today - DAY_MS)}T00:00:00Z&to=${formatDay(today)}T00:00:00Z`,
    '/v1/organizations/{organizationId}/telemetry/usage': `from=${formatDay(today - DAY_MS)}T00:00:00Z&to=${formatDay(today)}T00:00:00Z`,
    '/api/v2/dashboards/{id}/tiles/{tileId}/data': range,
    '/api/v2/sources/{id}/columns': range,
    '/api/v2/annotations': range,
  };

  for (const { id: organizationId, admin, token } of owners) {
    /** Reads one resource; the values replace the parameters of the path. */
    const read = async (template: string, values: Record<string, string> = {}): Promise<Json> => {
      const path = template.replace(
        /\{(\w+)\}/g,
        (_, name) => ({ organizationId, ...values })[name as 'organizationId'],
      );
      const query = queries[template];
      const credentials = template.startsWith('/v1') ? { key: admin } : { token: token ?? '' };
      const { status, json, text } = await server.call({ path: query ? `${path}?${query}` : path, ...credentials });
      dropExports(template, json);
      covered.add(template);
      // Sessions are in no backup.
      const body = path.endsWith('/sessions') ? undefined : json === undefined ? text : withoutVolatile(json);
      responses[`${organizationId} ${path}`] = { status, body };
      if (!(status === 404 && OPTIONAL_PARTS.some((part) => path.endsWith(part))))
        expect(status, `${path} ${text}`).toBe(200);
      return json?.result ?? json?.data;
    };
    const each = async (template: string, name: string, list: Json[], values: Record<string, string> = {}) => {
      for (const { id } of list) await read(template, { ...values, [name]: String(id) });
    };

    const organization = '/v1/organizations/{organizationId}';
    await read('/v1/organizations');
    await read(organization);
    await read('/v1/whoami');
    await each(`${organization}/roles/{roleId}`, 'roleId', await read(`${organization}/roles`));
    const services = await read(`${organization}/services`);
    await each(`${organization}/services/{serviceId}`, 'serviceId', services);
    const clickStack = `${organization}/services/{serviceId}/clickstack`;
    const service = { serviceId: String(services[0]?.id) };
    const boards = await read(`${clickStack}/dashboards`, service);
    await each(`${clickStack}/dashboards/{clickStackDashboardId}`, 'clickStackDashboardId', boards, service);
    const sources = await read(`${clickStack}/sources`, service);
    await each(`${clickStack}/sources/{clickStackSourceId}`, 'clickStackSourceId', sources, service);
    const savedSearches = await read(`${clickStack}/saved-searches`, service);
    await each(
      `${clickStack}/saved-searches/{clickStackSavedSearchId}`,
      'clickStackSavedSearchId',
      savedSearches,
      service,
    );
    await read(`${clickStack}/webhooks`, service);
    const alerts = await read(`${clickStack}/alerts`, service);
    await each(`${clickStack}/alerts/{clickStackAlertId}`, 'clickStackAlertId', alerts, service);
    for (const part of SERVICE_PARTS) await each(`${organization}/services/{serviceId}/${part}`, 'serviceId', services);
    await each(`${organization}/invitations/{invitationId}`, 'invitationId', await read(`${organization}/invitations`));
    for (const { userId } of await read(`${organization}/members`)) {
      await read(`${organization}/members/{userId}`, { userId });
      await read(`${organization}/members/{userId}/sessions`, { userId });
    }
    const savedQueries = `${organization}/services/{serviceId}/saved-queries`;
    await each(`${savedQueries}/{queryId}`, 'queryId', await read(savedQueries, service), service);
    // The first service may have none.
    covered.add(`${savedQueries}/{queryId}`);
    await read(`${organization}/prometheus`);
    await read(`${organization}/prometheus/discovery`);
    await each(`${organization}/keys/{keyId}`, 'keyId', await read(`${organization}/keys`));
    await each(`${organization}/budgets/{budgetId}`, 'budgetId', await read(`${organization}/budgets`));
    await each(`${organization}/activities/{activityId}`, 'activityId', await read(`${organization}/activities`));
    for (const part of [
      'usageCost',
      'usageCost/summary',
      'usageCost/export',
      'usageCost/forecast',
      'usageWarnings',
      'dashboardTokens',
      'telemetry',
      'telemetry/storage',
      'telemetry/usage',
      'telemetryRetention',
      'telemetryLimits',
      'telemetryRules',
    ])
      await read(`${organization}/${part}`);
    if (token === undefined) continue;
    await read('/api/v2/dashboard-templates');
    for (const { id, tiles } of await read('/api/v2/dashboards')) {
      await read('/api/v2/dashboards/{id}', { id });
      for (const { version } of await read('/api/v2/dashboards/{id}/versions', { id }))
        await read('/api/v2/dashboards/{id}/versions/{version}', { id, version });
      await read('/api/v2/dashboards/{id}/links', { id });
      for (const tile of tiles) await read('/api/v2/dashboards/{id}/tiles/{tileId}/data', { id, tileId: tile.id });
    }
    await each('/api/v2/connections/{id}', 'id', await read('/api/v2/connections'));
    const ownSources = await read('/api/v2/sources');
    await each('/api/v2/sources/{id}', 'id', ownSources);
    await each('/api/v2/sources/{id}/columns', 'id', ownSources);
    await read('/api/v2/annotations');
    await each('/api/v2/saved-searches/{id}', 'id', await read('/api/v2/saved-searches'));
    await read('/api/v2/webhooks');
    const ownAlerts = await read('/api/v2/alerts');
    await each('/api/v2/alerts/{id}', 'id', ownAlerts);
    await each('/api/v2/alerts/{id}/groups', 'id', ownAlerts);
    await each('/api/v2/alerts/{id}/evaluations', 'id', ownAlerts);
    await read('/api/v2/notifications');
    const body = { start: today - 20 * DAY_MS, end: today + 3 * DAY_MS, limit: 1 };
    const found = await server.call({ method: 'POST', path: '/api/v2/traces/search', token, body });
    for (const { traceId } of found.json.data.traces) await read('/api/v2/traces/{traceId}', { traceId });
    // The organization may have no trace.
    covered.add('/api/v2/traces/{traceId}');
  }
  // These services have no backups; see test/services/backups.test.ts.
  covered.add('/v1/organizations/{organizationId}/services/{serviceId}/backups/{backupId}');
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const documented = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}) && !path.startsWith('/console'));
  expect([...covered].sort()).toEqual(documented.sort());
  return responses;
}

function withoutVolatile(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutVolatile);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries<Json>(value)
      .filter(([name]) => !LAST_USE.includes(name))
      .map(([name, member]) => {
        if (name === PARTIAL_BUCKETS) return [name, member.map((bucket: Json) => ({ ...bucket, end: 'end' }))];
        return [name, VOLATILE.has(name) ? name : withoutVolatile(member)];
      }),
  );
}
