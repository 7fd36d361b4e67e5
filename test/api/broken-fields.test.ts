import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ApiResponse, Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { getKeyId } from '../support/keys.ts';
import { SYSTEM_ROLES } from '../support/roles.ts';
import { createScalingClient, type ServiceName } from '../support/scaling.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const RUNS = 60;
const UNKNOWN_ROLE = '00000000-0000-4000-8000-000000000001';

type Fields = Record<string, readonly unknown[]>;

/** A body with some of the fields, each with one of its values. */
const anyBody = (fields: Fields): fc.Arbitrary<Json> =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, fc.constantFrom(...values)])), {
    requiredKeys: [],
  });

/** Every broken field is named, and a request without one is not a 400. */
function expectNamed({ status, json, text }: ApiResponse, broken: readonly string[], body: Json): void {
  const about = `${JSON.stringify(body)} → ${status} ${text}`;
  if (broken.length > 0) expect(status, about).toBe(400);
  for (const field of broken) expect(json?.error, about).toContain(`request body.${field}`);
}

const REPLICAS = {
  named: ['numReplicas', 'minReplicas', 'maxReplicas'],
  valid: [1, 2, 3, 13, 20],
  broken: [0, 21, 2.5],
};
const REPLICA_MEMORY = {
  named: ['minReplicaMemoryGb', 'maxReplicaMemoryGb'],
  valid: [8, 16, 120, 124, 356],
  broken: [4, 10, 360],
};
const TOTAL_MEMORY = {
  named: ['minTotalMemoryGb', 'maxTotalMemoryGb'],
  valid: [24, 48, 360, 372, 1068],
  broken: [12, 30, 1080],
};
const IDLE = { named: ['idleTimeoutMinutes'], valid: [5, 15], broken: [4, '15'] };
const OPERATIONS: Record<'scaling' | 'replicaScaling', { named: string[]; valid: unknown[]; broken: unknown[] }[]> = {
  scaling: [{ ...REPLICAS, named: ['numReplicas'] }, TOTAL_MEMORY, IDLE],
  replicaScaling: [REPLICAS, REPLICA_MEMORY, IDLE],
};

/** Whether the size of the service forbids the value, whatever else the request and earlier requests say. */
function isForbidden(service: ServiceName, field: string, value: number): boolean {
  const isMemory = field.endsWith('MemoryGb');
  const memory = field.includes('Total') ? value / 3 : value;
  if (service === 'basic' || service === 'development') {
    if (isMemory) return memory !== 8;
    return field.endsWith('Replicas') && value !== (service === 'basic' ? 1 : 3);
  }
  if (isMemory) return service === 'unpaid' && memory > 120;
  return field.endsWith('Replicas') && value < 2 && service !== 'secondary';
}

onEachStoreInLongRuns('M3: every broken field is named', (store) => {
  // The organization has as many keys as it may have.
  const server = useServer(store, { args: ['--max-keys', '5'] });

  it.each(['scaling', 'replicaScaling'] as const)('%s, in random sequences', async (operation) => {
    const { patch } = createScalingClient(server, operation);
    const groups = OPERATIONS[operation];
    const fields = Object.fromEntries(
      groups.flatMap(({ named, valid, broken }) => named.map((name) => [name, [...valid, ...broken]])),
    );
    const isBroken = (field: string, value: unknown) =>
      groups.some(({ named, broken }) => named.includes(field) && (broken as unknown[]).includes(value));
    const services = ['primary', 'secondary', 'development', 'unpaid', 'basic'] as const;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...services), anyBody(fields), async (service, body) => {
        const sent = Object.entries(body);
        const malformed = sent.filter(([field, value]) => isBroken(field, value));
        // What the body violates by itself comes before the rules of the service (B8).
        const broken =
          malformed.length > 0
            ? malformed
            : sent.filter(([field, value]) => isForbidden(service, field, value as number));
        const names = broken.map(([field]) => field);
        expectNamed(await patch(service, body), names, body);
      }),
      { numRuns: RUNS * 2 },
    );
  });

  it('minReplicas and maxReplicas of a BASIC service', async () => {
    const { patch } = createScalingClient(server, 'replicaScaling');
    const rule = 'A service of a BASIC organization has exactly 1 replica';
    expect((await patch('basic', { minReplicas: 3, maxReplicas: 13 })).json.error).toBe(
      `BAD_REQUEST: request body.minReplicas: ${rule} <number:3>; request body.maxReplicas: ${rule} <number:13>`,
    );
  });

  it('numReplicas of a development service beside equal minReplicas and maxReplicas', async () => {
    const { patch } = createScalingClient(server, 'replicaScaling');
    const body = { numReplicas: 2, minReplicas: 2, maxReplicas: 2 };
    expectNamed(await patch('development', body), Object.keys(body), body);
  });

  it.each(['POST', 'PATCH'])('%s of a key, in random sequences', async (method) => {
    const id = await getKeyId(server, 'query');
    const path = `/v1/organizations/${acme.id}/keys${method === 'POST' ? '' : `/${id}`}`;
    const broken: Record<string, unknown> = {
      name: '',
      state: 'off',
      expireAt: '2020-01-01T00:00:00Z',
      ipAccessList: [{ source: 'nowhere' }],
    };
    const valid: Record<string, unknown> = {
      name: 'n',
      state: 'enabled',
      expireAt: '2999-01-01T00:00:00Z',
      ipAccessList: [],
    };
    const values = Object.fromEntries(Object.keys(broken).map((name) => [name, [broken[name], valid[name]]]));
    const { query_endpoints: queryEndpoints, developer } = SYSTEM_ROLES;
    const roles = [['query_endpoints'], ['developer'], [], ['owner']];
    const assignedRoleIds = [[queryEndpoints], [developer], [UNKNOWN_ROLE], [developer, UNKNOWN_ROLE], ['x'], []];
    await fc.assert(
      fc.asyncProperty(anyBody({ ...values, roles, assignedRoleIds }), async (body) => {
        const names = Object.keys(broken).filter((name) => name in body && body[name] === broken[name]);
        const isRoleBroken = body.roles && (body.roles.length === 0 || body.roles[0] === 'owner');
        if (isRoleBroken) names.push('roles');
        if (body.assignedRoleIds && areRolesBroken(body, method, isRoleBroken)) names.push('assignedRoleIds');
        const response = await server.call({ method, path, key: acme.admin, body });
        expectNamed(response, names, body);
        // B8: the limit of keys comes after the rules of the body.
        if (names.length === 0) expect(response.status, response.text).toBe(method === 'POST' ? 409 : 200);
      }),
      { numRuns: RUNS * 3 },
    );
  });

  function areRolesBroken({ roles, assignedRoleIds }: Json, method: string, isRoleBroken: boolean): boolean {
    if (assignedRoleIds.includes('x') || assignedRoleIds.includes(UNKNOWN_ROLE)) return true;
    if (!roles || isRoleBroken || (assignedRoleIds.length === 0 && method === 'POST')) return false;
    return assignedRoleIds[0] !== SYSTEM_ROLES[roles[0] as keyof typeof SYSTEM_ROLES];
  }
});
