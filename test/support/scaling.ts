import type { ApiResponse, Call } from './client.ts';
import { acme, globex, initech } from './fleet.ts';
import type { TestServer } from './server.ts';

/** The services of the shared fleet, one for each case of the rules. */
const services = {
  primary: { organization: acme, id: acme.primary },
  secondary: { organization: acme, id: acme.secondary },
  development: { organization: acme, id: acme.development },
  unpaid: { organization: globex, id: globex.primary },
  basic: { organization: initech, id: initech.primary },
};

export type ServiceName = keyof typeof services;

/** The declared settings of the services that can be resized. */
const declared = {
  primary: {
    numReplicas: 3,
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 120,
    idleScaling: true,
    idleTimeoutMinutes: 15,
  },
  secondary: {
    numReplicas: 2,
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 120,
    idleScaling: true,
    idleTimeoutMinutes: 15,
  },
  unpaid: {
    numReplicas: 2,
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 120,
    idleScaling: true,
    idleTimeoutMinutes: 15,
  },
};

const SCALING_FIELDS = [
  'idleScaling',
  'idleTimeoutMinutes',
  'maxReplicaMemoryGb',
  'maxTotalMemoryGb',
  'minReplicaMemoryGb',
  'minTotalMemoryGb',
  'numReplicas',
];

export function createScalingClient(server: TestServer, operation: 'scaling' | 'replicaScaling') {
  const formatPath = (name: ServiceName) =>
    `/v1/organizations/${services[name].organization.id}/services/${services[name].id}`;
  const patch = (name: ServiceName, body?: unknown, more: Partial<Call> = {}): Promise<ApiResponse> =>
    server.call({
      method: 'PATCH',
      path: `${formatPath(name)}/${operation}`,
      key: services[name].organization.admin,
      body,
      ...more,
    });

  return {
    formatPath,
    patch,

    /** A raw body, for JSON that JSON.stringify cannot produce. */
    patchText: (name: ServiceName, text: string) =>
      patch(name, undefined, { text, headers: { 'content-type': 'application/json' } }),

    /** The scaling settings as another request reads them. */
    async stored(name: ServiceName): Promise<Record<string, unknown>> {
      const { json } = await server.call({ path: formatPath(name), key: services[name].organization.admin });
      return Object.fromEntries(SCALING_FIELDS.map((field) => [field, json.result[field]]));
    },

    async restore(): Promise<void> {
      const names = ['primary', 'secondary', 'unpaid'] as const;
      await Promise.all(
        names.map((name) =>
          server.call({
            method: 'PATCH',
            path: `${formatPath(name)}/replicaScaling`,
            key: services[name].organization.admin,
            body: { autoscalingMode: 'vertical', ...declared[name] },
          }),
        ),
      );
    },
  };
}
