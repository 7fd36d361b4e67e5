import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findPermission,
  OPERATIONS,
  PERMISSION_NAMES,
  UNRESTRICTED_OPERATIONS,
} from '../../src/kernel/access/permissions.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { formatPath, listOperations } from '../support/operations.ts';
import { withSecretsKey } from '../support/secrets-key.ts';
import { onEachStore, PROGRAM, type TestServer, useServer } from '../support/server.ts';

const KEYS = { admin: acme.admin, developer: acme.developer, query_endpoints: acme.query };

/** Required query parameters and bodies of operations. */
const BODIES: Record<string, object> = { budgetCreate: { monthlyCHC: 1_000_000 } };
/** A new name for each call, because names of roles are unique. */
const newBody = (id: string) => (id === 'organizationRolePost' ? { name: randomUUID() } : BODIES[id]);

/** Reads that use POST because they have a body, and what belongs to running SQL that reads. */
const isRead = (method: string, path: string) =>
  method === 'GET' || /\/(preview|validate|sql\/read)$|\/(sql\/queries|saved-queries)\b/.test(path);

function listExpectedRoles(method: string, path: string): string[] {
  if (path === '/v1/whoami') return ['admin', 'developer', 'query_endpoints'];
  // Needs the permission to create the service.
  if (path.endsWith('/services/preview')) return ['admin'];
  // Addresses and browsers of other people.
  if (path.endsWith('/sessions')) return ['admin'];
  return isRead(method, path) ? ['admin', 'developer'] : ['admin'];
}

/** Every documented operation with every role: `GET /v1/… developer` → rejected or not. */
async function roleTable(server: TestServer) {
  const rows: { call: string; documented: boolean; rejected: boolean; error: string | undefined }[] = [];
  for (const operation of await listOperations(server, '/v1')) {
    for (const [role, key] of Object.entries(KEYS)) {
      const values = {
        organizationId: acme.id,
        serviceId: acme.secondary,
        keyId: randomUUID(),
        activityId: randomUUID(),
        tokenId: randomUUID(),
        userId: randomUUID(),
        invitationId: randomUUID(),
        sessionId: randomUUID(),
        linkId: randomUUID(),
        budgetId: randomUUID(),
        backupId: randomUUID(),
        roleId: randomUUID(),
        queryId: randomUUID(),
        clickStackDashboardId: 'f'.repeat(24),
        clickStackSourceId: 'f'.repeat(24),
      };
      const body = newBody(operation.id);
      const call = { method: operation.method, path: formatPath(operation, values), key };
      const response = await server.call(body ? { ...call, body } : call);
      // Without a valid body, an operation that the role may call responds with a 400.
      expect([200, 400, 403, 404, 409], `${operation.method} ${operation.path}: ${response.text}`).toContain(
        response.status,
      );
      rows.push({
        call: `${operation.method} ${operation.path} ${role}`,
        documented: !operation.roles.includes(role),
        rejected: response.status === 403,
        error: response.json?.error,
      });
    }
  }
  return rows;
}

onEachStore('roles', (store) => {
  const server = useServer(store);

  it('R1: every operation rejects exactly the roles that the document does not list', async () => {
    const rows = await roleTable(server);
    expect(rows.map(({ call, rejected }) => [call, rejected])).toEqual(
      rows.map(({ call, documented }) => [call, documented]),
    );
    for (const { rejected, error } of rows)
      if (rejected)
        expect(error).toMatch(/^FORBIDDEN: This operation needs the role admin( or developer)?; the key has /);
  });

  it('R1: admin can do everything, developer can read, query_endpoints can only ask who it is', async () => {
    for (const { method, path, roles } of await listOperations(server, '/v1')) {
      expect([path, method, roles]).toEqual([path, method, listExpectedRoles(method, path)]);
    }
  });

  it('R3: every operation is in a permission, with the scope of its path and the access of its roles', async () => {
    const operations = [...(await listOperations(server, '/v1')), ...(await listOperations(server, '/api/v2'))];
    const described = operations
      .filter(({ id }) => !UNRESTRICTED_OPERATIONS.includes(id))
      .map(({ id, path, roles }) => [
        id,
        {
          // Dashboards belong to the organization, also below a service.
          scope:
            (path.includes('{serviceId}') && !path.includes('/clickstack/')) || id === 'instanceGetList'
              ? 'service'
              : 'organization',
          access: roles.includes('developer') || roles.includes('read') ? 'read' : 'write',
        },
      ]);
    expect(described.map(([id]) => [id, OPERATIONS.get(String(id))])).toEqual(described);
  });

  it('R3: every permission has operations, and all of them are in the document', async () => {
    const operations = [...(await listOperations(server, '/v1')), ...(await listOperations(server, '/api/v2'))];
    const documented = new Set(operations.map(({ id }) => id));
    expect(PERMISSION_NAMES.filter((name) => !findPermission(name)?.operations.length)).toEqual([]);
    const named = [...PERMISSION_NAMES.flatMap((name) => findPermission(name)?.operations ?? []), ...OPERATIONS.keys()];
    // The query endpoint is an interface of its own.
    expect([...named, ...UNRESTRICTED_OPERATIONS].filter((id) => !documented.has(id))).toEqual(['queryEndpointRun']);
  });

  it('R1: the document has the operations of the contract', async () => {
    const calls = [...(await listOperations(server, '/v1')), ...(await listOperations(server, '/api/v2'))].map(
      ({ method, path }) => `${method} ${path}`,
    );
    expect(calls).toEqual(
      expect.arrayContaining([
        'PATCH /v1/organizations/{organizationId}/services/{serviceId}/scaling',
        'POST /v1/organizations/{organizationId}/keys',
        'GET /v1/organizations/{organizationId}/usageCost',
        'GET /api/v2/dashboards/{id}',
        'GET /api/v2/dashboards',
      ]),
    );
  });

  it.each([
    [['query_endpoints', 'developer'], 200, 403],
    [['query_endpoints', 'admin'], 200, 200],
    [['developer', 'admin'], 200, 200],
  ])('R1: a single sufficient role in %j is enough', async (roles, read, change) => {
    const { credentials } = await createKey(server, { roles });
    const service = `/v1/organizations/${acme.id}/services/${acme.secondary}`;
    expect((await server.call({ path: service, key: credentials })).status).toBe(read);
    expect(
      (await server.call({ method: 'PATCH', path: `${service}/scaling`, key: credentials, body: {} })).status,
    ).toBe(change);
  });

  it('R1, R2: a rejected change has no effect', async () => {
    const service = `/v1/organizations/${acme.id}/services/${acme.primary}`;
    const before = (await server.call({ path: service, key: acme.admin })).json.result;
    for (const key of [acme.developer, acme.query])
      await server.call({ method: 'PATCH', path: `${service}/scaling`, key, body: { numReplicas: 9 } });
    expect((await server.call({ path: service, key: acme.admin })).json.result).toEqual(before);
  });
});

describe('the generated reference', () => {
  const docs = join(import.meta.dirname, '../../docs');
  const fresh = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  beforeAll(() => {
    execFileSync(process.execPath, [PROGRAM, 'reference', '--write', fresh], {
      cwd: fresh,
      env: { PATH: process.env.PATH, ...withSecretsKey() },
    });
  });
  afterAll(() => rmSync(fresh, { recursive: true, force: true }));

  it.each(['roles.md', 'openapi.json', 'aggregations.md', 'settings.md'])(
    'R1: docs/%s matches the code (`npm run docs`)',
    (file) => {
      expect(readFileSync(join(docs, file), 'utf8')).toBe(readFileSync(join(fresh, file), 'utf8'));
    },
  );

  it('R1: roles.md has a row for every operation and matches the server', () => {
    const rows = readFileSync(join(fresh, 'roles.md'), 'utf8')
      .split('\n')
      .filter((line) => /`[A-Z]+ \/v1\//.test(line));
    const { paths } = JSON.parse(readFileSync(join(fresh, 'openapi.json'), 'utf8')) as {
      paths: Record<string, object>;
    };
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `\`${method.toUpperCase()} ${path}\``),
    );
    expect(rows.map((row) => row.split(' | ')[1])).toEqual(calls.filter((call) => call.includes(' /v1/')));
    for (const row of rows) {
      const [, method = '', path = ''] = /`([A-Z]+) ([^`]+)`/.exec(row) ?? [];
      const allowed = listExpectedRoles(method, path);
      const cells = ['admin', 'developer', 'query_endpoints'].map((role) => (allowed.includes(role) ? 'yes' : '403'));
      expect(row).toContain(`| ${cells.join(' | ')} |`);
    }
  });
});
