import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { getSystemRoleId } from '../../src/kernel/access/roles.ts';
import type { Call } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { join } from '../support/members.ts';
import { formatPath, listOperations, type Operation } from '../support/operations.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';

/** `npm test` tries every combination on libSQL, and a quarter of them on PostgreSQL. */
const isLong = process.env.HOSTILE_REQUESTS !== undefined;

/** Valid bodies, so that only the credentials decide. */
const BODIES: Record<string, object> = {
  budgetCreate: { monthlyCHC: 1_000_000 },
  createDashboard: { name: 'matrix' },
  updateDashboard: { name: 'matrix' },
  createSource: { name: 'matrix', kind: 'log' },
  updateSource: { name: 'matrix', kind: 'log' },
  clickStackCreateDashboard: { name: 'matrix' },
  clickStackUpdateDashboard: { name: 'matrix' },
  clickStackCreateSource: { name: 'matrix', kind: 'log' },
  clickStackUpdateSource: { name: 'matrix', kind: 'log' },
  drawTile: { series: [{ type: 'markdown', content: 'x' }] },
  queryChartSeries: {
    series: [{ sourceId: 'no such source', aggFn: 'count' }],
    startTime: 1_700_000_000_000,
    endTime: 1_700_000_060_000,
  },
};

/** The operations of a custom role: some on one service, some on the organization. */
const SERVICE_OPERATIONS = ['instanceGet', 'instanceScalingUpdate'];
const CUSTOM_OPERATIONS = [...SERVICE_OPERATIONS, 'usageCostGet', 'listDashboards', 'openapiKeyGetList'];

type Outcome = 'allowed' | 401 | 403 | 404;

/** A way to authenticate, and what it may do. */
interface Caller {
  name: string;
  credentials: Pick<Call, 'key' | 'token' | 'headers'>;
  /** Of the other organization: sees its own resources only. */
  isForeign?: boolean;
  expect(operation: Operation): Outcome;
}

/** Names of roles are unique. */
const newBody = (id: string): object | undefined =>
  id === 'organizationRolePost' ? { name: randomUUID() } : BODIES[id];

const isManagement = ({ path }: Operation) => path.startsWith('/v1/');
const needsOrganization = ({ parameters }: Operation) => parameters.includes('organizationId');
const isWrite = ({ roles }: Operation) => !roles.includes('read');

/** The outcome for a key with this role, from the document. */
const byRole =
  (role: string) =>
  (operation: Operation): Outcome =>
    !isManagement(operation) ? 401 : operation.roles.includes(role) ? 'allowed' : 403;

/** The outcome for a dashboard token, from the document. */
const byAccess =
  (access: 'read' | 'write') =>
  (operation: Operation): Outcome =>
    isManagement(operation) ? 401 : operation.roles.includes(access) ? 'allowed' : 403;

/** A session uses both interfaces. A session of a token has no role in management. */
const bySession =
  (role: string | undefined, access: 'read' | 'write' | 'none') =>
  (operation: Operation): Outcome => {
    if (isManagement(operation)) return role !== undefined && operation.roles.includes(role) ? 'allowed' : 403;
    if (access === 'none') return 403;
    return access === 'write' || !isWrite(operation) ? 'allowed' : 403;
  };

/** The outcome for a key with the custom role on the service of these tests. */
const byCustomRole =
  (isSession: boolean) =>
  (operation: Operation): Outcome => {
    if (!isManagement(operation) && !isSession) return 401;
    return [...CUSTOM_OPERATIONS, 'whoamiGet'].includes(operation.id) ? 'allowed' : 403;
  };

/** The outcome for a key with the custom role on another service. */
const byCustomRoleElsewhere = (operation: Operation): Outcome =>
  SERVICE_OPERATIONS.includes(operation.id) ? 403 : byCustomRole(false)(operation);

/** A resource of the other organization is like one that does not exist. */
function expectNothingForeign(
  { status, text }: { status: number; text: string },
  { parameters }: Operation,
  wanted: Outcome,
  about: string,
): void {
  for (const name of ['Acme', 'analytics', 'reader']) expect(text, about).not.toContain(name);
  if (wanted === 'allowed' && parameters.includes('id')) expect([400, 404], about).toContain(status);
}

onEachStore('credentials × operations', (store) => {
  const server = useServer(store, {
    args: ['--max-keys', '1000', '--log-level', 'error', '--trust-proxy', '127.0.0.1'],
  });

  /** A key with a custom role on one service, and no other role. */
  async function createCustomKey(serviceId: string) {
    const policies = [
      { allowDeny: 'ALLOW', permissions: SERVICE_OPERATIONS, resources: [`instance/${serviceId}`] },
      {
        allowDeny: 'ALLOW',
        permissions: CUSTOM_OPERATIONS.filter((id) => !SERVICE_OPERATIONS.includes(id)),
        resources: [`organization/${acme.id}`],
      },
    ];
    const path = `/v1/organizations/${acme.id}/roles`;
    const body = { name: `custom ${serviceId}`, policies };
    const { json, text, status } = await server.call({ method: 'POST', path, key: acme.admin, body });
    expect(status, text).toBe(200);
    return (await createKey(server, { assignedRoleIds: [json.result.id] })).credentials;
  }

  async function listCallers(): Promise<(Caller & { address: string })[]> {
    const session = async (credentials: Parameters<typeof signIn>[1]) => ({
      headers: (await signIn(server, credentials)).headers,
    });
    const member = async (role: string, body: object = { role }) => ({
      headers: (await join(server, acme, `${role}@acme.example`, body)).headers,
    });
    const rejected = () => 401 as const;
    const [here, elsewhere] = [await createCustomKey(acme.secondary), await createCustomKey(acme.primary)];
    const callers: Caller[] = [
      { name: 'no credentials', credentials: {}, expect: rejected },
      { name: 'a disabled key', credentials: { key: acme.disabled }, expect: rejected },
      { name: 'an expired key', credentials: { key: acme.expired }, expect: rejected },
      { name: 'a wrong secret', credentials: { key: { ...acme.admin, keySecret: 'wrong' } }, expect: rejected },
      { name: 'a wrong token', credentials: { token: 'wrong' }, expect: rejected },
      { name: 'a malformed header', credentials: { headers: { authorization: 'Digest x' } }, expect: rejected },
      { name: 'admin', credentials: { key: acme.admin }, expect: byRole('admin') },
      { name: 'developer', credentials: { key: acme.developer }, expect: byRole('developer') },
      { name: 'query_endpoints', credentials: { key: acme.query }, expect: byRole('query_endpoints') },
      { name: 'a custom role', credentials: { key: here }, expect: byCustomRole(false) },
      { name: 'a custom role elsewhere', credentials: { key: elsewhere }, expect: byCustomRoleElsewhere },
      { name: 'a session of a custom role', credentials: await session(here), expect: byCustomRole(true) },
      { name: 'a read token', credentials: { token: acme.token }, expect: byAccess('read') },
      { name: 'a write token', credentials: { token: acme.writer }, expect: byAccess('write') },
      { name: 'a session of admin', credentials: await session(acme.admin), expect: bySession('admin', 'write') },
      {
        name: 'a session of developer',
        credentials: await session(acme.developer),
        expect: bySession('developer', 'read'),
      },
      { name: 'an admin member', credentials: await member('admin'), expect: bySession('admin', 'write') },
      { name: 'a developer member', credentials: await member('developer'), expect: bySession('developer', 'read') },
      {
        name: 'a member without roles',
        credentials: await member('none', { assignedRoleIds: [getSystemRoleId('query_endpoints')] }),
        expect: bySession('query_endpoints', 'none'),
      },
      {
        name: 'a member of another organization',
        credentials: { headers: (await join(server, globex, 'admin@globex.example', { role: 'admin' })).headers },
        isForeign: true,
        expect: (operation) => (needsOrganization(operation) ? 404 : 'allowed'),
      },
      {
        name: 'a session of query_endpoints',
        credentials: await session(acme.query),
        expect: bySession('query_endpoints', 'none'),
      },
      {
        name: 'a session of a read token',
        credentials: await session({ token: acme.token }),
        expect: bySession(undefined, 'read'),
      },
      {
        name: 'a session of a write token',
        credentials: await session({ token: acme.writer }),
        expect: bySession(undefined, 'write'),
      },
      {
        name: 'admin of another organization',
        credentials: { key: globex.admin },
        isForeign: true,
        expect: (operation) => (!isManagement(operation) ? 401 : needsOrganization(operation) ? 404 : 'allowed'),
      },
      {
        name: 'a write token of another organization',
        credentials: { token: globex.writer },
        isForeign: true,
        expect: byAccess('write'),
      },
      {
        name: 'a session of another organization',
        credentials: await session(globex.admin),
        isForeign: true,
        expect: (operation) => (needsOrganization(operation) ? 404 : 'allowed'),
      },
    ];
    // Each from its own address, because failed attempts are limited by address.
    return callers.map((caller, index) => ({ ...caller, address: `10.0.${index}.1` }));
  }

  /** Existing resources for a foreign caller, which must not find them; otherwise missing ones, so that nothing changes. */
  const listIds = (isForeign: boolean): Record<string, string> => ({
    organizationId: acme.id,
    serviceId: isForeign ? acme.primary : acme.secondary,
    keyId: randomUUID(),
    activityId: randomUUID(),
    tokenId: randomUUID(),
    userId: randomUUID(),
    invitationId: randomUUID(),
    sessionId: randomUUID(),
    linkId: randomUUID(),
    budgetId: randomUUID(),
    backupId: randomUUID(),
    queryId: randomUUID(),
    roleId: randomUUID(),
    id: isForeign ? acme.dashboard : 'f'.repeat(24),
    clickStackDashboardId: isForeign ? acme.dashboard : 'f'.repeat(24),
    clickStackSourceId: isForeign ? 'logs' : 'f'.repeat(24),
    tileId: 'one',
    traceId: 'f'.repeat(32),
    version: '1',
  });

  async function tryOperation(
    caller: Caller & { address: string },
    operation: Operation,
    wanted: Outcome,
  ): Promise<Outcome> {
    const { id, method } = operation;
    const body = newBody(id) ?? (method === 'GET' || method === 'DELETE' ? undefined : {});
    const path = formatPath(operation, listIds(caller.isForeign ?? false));
    const headers = { ...caller.credentials.headers, 'x-forwarded-for': caller.address };
    const call = { method, path, ...caller.credentials, headers };
    const { status, text } = await server.call(body ? { ...call, body } : call);
    const about = `${caller.name}: ${method} ${operation.path}: ${text}`;
    expect(status, about).toBeLessThan(500);
    if (caller.isForeign) expectNothingForeign({ status, text }, operation, wanted, about);
    if (status === 401 || status === 403) return status;
    return wanted === 404 && status === 404 ? 404 : 'allowed';
  }

  it('R1, R2, B8, M4: every caller gets the documented outcome of every operation', { timeout: 600_000 }, async () => {
    const operations = [...(await listOperations(server, '/v1')), ...(await listOperations(server, '/api/v2'))];
    const outcomes: string[] = [];
    const expected: string[] = [];
    for (const [row, caller] of (await listCallers()).entries()) {
      for (const [column, operation] of operations.entries()) {
        if (!isLong && store === 'postgres' && (row + column) % 4 !== 0) continue;
        const name = `${caller.name}: ${operation.method} ${operation.path}`;
        const wanted = caller.expect(operation);
        outcomes.push(`${name} → ${await tryOperation(caller, operation, wanted)}`);
        expected.push(`${name} → ${wanted}`);
      }
    }
    expect(outcomes).toEqual(expected);
    expect(outcomes.length).toBeGreaterThan(isLong || store === 'libsql' ? 700 : 175);
  });
});
