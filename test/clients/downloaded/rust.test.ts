import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../support/client.ts';
import { acme } from '../../support/fleet.ts';
import { onEachStore, useServer } from '../../support/server.ts';
import { buildRustPackage, describeClient, runProgram } from '../install.ts';

const SOURCE = join(import.meta.dirname, '../rust');

/** Calls that return something, and what the typed client reads in it. */
const WORKS: [string, object][] = [
  ['whoami_get', { result: { actorType: 'apiKey', organizationId: acme.id } }],
  ['organization_get_list', { result: [{ id: acme.id, name: 'Acme' }] }],
  ['organization_get', { result: { id: acme.id, name: 'Acme' } }],
  ['usage_cost_get', { result: { grandTotalCHC: expect.any(Number), costs: expect.any(Array) } }],
  ['instance_get_list filter', { result: [] }],
  ['instance_get', { result: { id: acme.primary, state: 'running', currentScaling: { effectiveMinReplicas: 3 } } }],
  ['instance_scaling_update', { result: { numReplicas: 4, idleScaling: false, state: 'running' } }],
  ['instance_replica_scaling_update', { result: { minReplicaMemoryGb: 24, maxReplicaMemoryGb: 48, numReplicas: 3 } }],
  ['instance_private_endpoint_config_get', { status: 200 }],
  ['backup_configuration_get', { result: { backupPeriodInHours: expect.any(Number) } }],
  ['instance_create', { result: { password: expect.any(String), service: { name: 'from rust', provider: 'aws' } } }],
  ['instance_update', { result: { name: 'renamed', ipAccessList: [expect.anything(), { source: '192.0.2.0/24' }] } }],
  ['instance_password_update', { result: { password: expect.any(String) } }],
  ['instance_state_update stop', { status: 200 }],
  ['instance_delete', { status: 200 }],
  ['organization_roles_get_list', { result: expect.arrayContaining([expect.objectContaining({ type: 'system' })]) }],
  ['member_get_list', { result: [] }],
  ['openapi_key_get_list', { result: [expect.anything(), expect.anything()], nextCursor: expect.any(String) }],
  ['openapi_key_create', { result: { keyId: expect.any(String), key: { name: 'from rust', state: 'enabled' } } }],
  ['openapi_key_get', { result: { assignedRoles: [expect.anything()] } }],
  ['openapi_key_update', { result: { state: 'disabled' } }],
  ['openapi_key_delete', { status: 200 }],
  ['activity_get', { result: { type: 'key_delete', actorType: 'api', organizationId: acme.id } }],
  ['click_stack_list_dashboards', { result: [{ name: 'Acme board' }] }],
  ['click_stack_get_dashboard', { result: { name: 'Acme board', tiles: [{ config: { displayType: 'line' } }] } }],
];

const UNSUPPORTED: [string, string][] = [['service_profiles_list', 'Pilothouse has no machine profiles']];

describeClient(
  'the crate clickhouse-cloud-api 0.5.0',
  () => buildRustPackage('rust client', SOURCE),
  (programs) => {
    onEachStore('clickhouse-cloud-api', (store) => {
      const server = useServer(store, { inProcess: false });
      let outcomes: Record<string, { result?: Json; error?: string }>;
      beforeAll(() => {
        const { keyId, keySecret } = acme.admin;
        const program = join(programs, 'pilothouse-client-test');
        const lines = runProgram(program, [server.url, keyId, keySecret, acme.id, acme.primary]).trim().split('\n');
        outcomes = Object.fromEntries(
          lines.map((line) => JSON.parse(line)).map(({ call, ...outcome }) => [call, outcome]),
        );
      });

      it.each(WORKS)('%s', (call, expected) => {
        expect(outcomes[call]?.error).toBeUndefined();
        expect(outcomes[call]?.result).toMatchObject(expected);
      });

      it('reads every service, source, activity and metric', () => {
        expect(outcomes.instance_get_list?.result.result).toHaveLength(3);
        expect(outcomes.click_stack_list_sources?.result.result.length).toBeGreaterThan(0);
        expect(outcomes.activity_get_list?.result.result.length).toBeGreaterThan(5);
        expect(outcomes.instance_prometheus_get?.result).toContain('# TYPE');
        expect(outcomes.organization_prometheus_discovery_get?.result).toHaveLength(3);
      });

      it('a service without a query endpoint is a 404', () => {
        expect(outcomes.instance_query_endpoint_get?.error).toMatch(/404.*NOT_FOUND/);
      });

      it.each(UNSUPPORTED)('%s is rejected with the reason', (call, reason) => {
        expect(outcomes[call]?.error).toContain(reason);
      });
    });
  },
);
