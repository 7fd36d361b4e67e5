import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ApiResponse, Credentials, Json } from './client.ts';
import { acme } from './fleet.ts';
import { createKey } from './keys.ts';
import type { TestServer } from './server.ts';

export const ORGANIZATION = `/v1/organizations/${acme.id}`;
export const ROLES = `${ORGANIZATION}/roles`;

/** The fixed ids of the system roles. */
export const SYSTEM_ROLES = {
  admin: 'd9ed08a2-5d7f-5a56-a981-ca84f9f92b63',
  developer: 'e307dc3a-b337-56eb-8d58-4937ded14a47',
  query_endpoints: 'af10e3c9-f65a-521d-b8b4-cfcfe96614de',
};

export const toAssignedRoles = (...roles: (keyof typeof SYSTEM_ROLES)[]) =>
  roles.map((role) => ({ roleId: SYSTEM_ROLES[role], roleName: role, roleType: 'system' }));

/** A policy for the organization, unless it names services. */
export const createPolicy = (permissions: string[], resources = [`organization/${acme.id}`], allowDeny = 'ALLOW') => ({
  allowDeny,
  permissions,
  resources,
});

/** Requests in the organization of the tests, as its admin unless another key is given. */
export function createRoleClient(server: TestServer) {
  const send = (method: string, path: string, body?: unknown, key: Credentials = acme.admin): Promise<ApiResponse> =>
    server.call({ method, path, key, ...(body === undefined ? {} : { body }) });

  async function createRole(policies: object[], more: object = {}): Promise<Json> {
    const { status, json, text } = await send('POST', ROLES, { name: `role ${randomUUID()}`, policies, ...more });
    expect(status, text).toBe(200);
    return json.result;
  }

  return {
    send,
    read: (path: string, key?: Credentials) => send('GET', path, undefined, key),
    createRole,
    /** A key with a new custom role and no other role. */
    async createKeyWith(...policies: object[]) {
      const role = await createRole(policies);
      return { role, ...(await createKey(server, { assignedRoleIds: [role.id] })) };
    },
  };
}
