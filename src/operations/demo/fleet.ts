import { DAY_MS, isoSeconds } from '../../kernel/time/clock.ts';
import type { FleetFile, OrganizationSpec, ServiceSpec } from '../fleet/schema.ts';
import { demoAlerts, demoChannels, demoSavedSearches } from './alerts.ts';
import { fleetOverview } from './dashboards/fleet-overview.ts';
import { logsExplorer } from './dashboards/logs-explorer.ts';
import { pilothouse } from './dashboards/pilothouse.ts';
import { serviceHealth } from './dashboards/service-health.ts';
import { demoMeters } from './meters.ts';
import { listDemoCosts } from './usage/costs.ts';

const TIER = 'SCALE';

const ids = {
  organization: 'b3a6f9d2-5c41-4e8a-9d27-0f1e2d3c4b5a',
  analytics: '4f2d1c0b-9a8e-4d7c-b6a5-e4f3d2c1b0a9',
  reader: '5e3c2b1a-0f9d-4c8b-a796-d5e4f3c2b1a0',
  sandbox: '6d4b3a29-1e0c-4b9a-8f85-c6d5e4f3b2a1',
  warehouse: '7c5a4938-2d1b-4a8f-9e74-b7c6d5e4f3a2',
  sandboxWarehouse: '8b695847-3c2a-4f9e-8d63-a8b7c6d5e4f3',
};

/** Of the user `default` of the services. */
const servicePassword = 'demo-service-password';

/** Identical on every machine and after every restart, so that commands copied from the README work. */
export const demo = {
  organizationId: ids.organization,
  serviceId: ids.analytics,
  ids,
  admin: { keyId: 'DemoAdminKey00000001', keySecret: 'demo-admin-secret' },
  developer: { keyId: 'DemoDevKey0000000002', keySecret: 'demo-developer-secret' },
  /** Expires within two weeks. */
  expiring: { keyId: 'DemoExportKey0000003', keySecret: 'demo-export-secret' },
  token: 'demo-dashboard-token',
  /** A token with write access. */
  writer: 'demo-dashboard-writer',
  /** A token that may send OpenTelemetry data. */
  ingestToken: 'demo-ingest-token',
  dashboardId: '64f0c1d2e3a4b5c6d7e8f901',
  servicePassword,
};

/** About the cost of an ordinary month, so that a spike brings it close to its thresholds. */
export const demoBudget = { name: 'Production', monthlyCHC: 1600 };

const services: ServiceSpec[] = [
  {
    id: ids.analytics,
    name: 'analytics',
    dataWarehouseId: ids.warehouse,
    isPrimary: true,
    isReadonly: false,
    numReplicas: 3,
    minTotalMemoryGb: 48,
    maxTotalMemoryGb: 360,
    idleScaling: true,
    idleTimeoutMinutes: 15,
    driver: 'embedded',
    password: servicePassword,
    provider: 'aws',
    region: 'eu-central-1',
    ipAccessList: [
      { source: '127.0.0.0/8', description: 'This machine' },
      { source: '::1', description: 'This machine' },
      { source: '10.0.0.0/8', description: 'Office and VPN' },
      { source: '2001:db8::/32', description: 'Data center' },
    ],
    iamRole: 'arn:aws:iam::123456789012:role/demo-analytics',
    byocId: 'byoc-demo-1',
    privateEndpointIds: ['vpce-0a1b2c3d4e5f60718'],
    availablePrivateEndpointIds: ['vpce-0a1b2c3d4e5f60718', 'vpce-1f2e3d4c5b6a79808'],
    encryptionKey: 'arn:aws:kms:eu-central-1:123456789012:key/demo',
    encryptionAssumedRoleIdentifier: 'arn:aws:iam::123456789012:role/demo-encryption',
    encryptionRoleId: 'demo-encryption-role',
    hasTransparentDataEncryption: true,
    transparentDataEncryptionKeyId: 'demo-tde-key',
    createdAt: '2026-01-12T08:30:00Z',
  },
  // Simulated, unlike the others: embedded services cannot share the data of a warehouse.
  {
    id: ids.reader,
    name: 'analytics-reader',
    dataWarehouseId: ids.warehouse,
    isPrimary: false,
    isReadonly: true,
    numReplicas: 1,
    minTotalMemoryGb: 24,
    maxTotalMemoryGb: 96,
    provider: 'aws',
    region: 'eu-central-1',
    databaseVersion: '26.7',
    createdAt: '2026-03-02T10:00:00Z',
  },
  {
    id: ids.sandbox,
    name: 'sandbox',
    kind: 'development',
    dataWarehouseId: ids.sandboxWarehouse,
    isPrimary: true,
    driver: 'embedded',
    password: servicePassword,
    provider: 'aws',
    region: 'eu-central-1',
    createdAt: '2026-05-20T14:45:00Z',
  },
];

/** The demo organization. `withCosts` adds the costs that the metered usage will have when it is rated. */
export function demoFleet(nowMs: number, { withCosts }: { withCosts: boolean }): FleetFile {
  const organization: OrganizationSpec = {
    id: ids.organization,
    name: 'Demo',
    tier: TIER,
    paid: true,
    createdAt: '2026-01-12T08:00:00Z',
    services,
    keys: [
      { name: 'Demo admin', ...demo.admin, roles: ['admin'] },
      { name: 'Demo developer', ...demo.developer, roles: ['developer'] },
      { name: 'Nightly export', ...demo.expiring, roles: ['developer'], expireAt: chooseExpiry(nowMs) },
    ],
    dashboardTokens: [
      { name: 'Demo viewer', token: demo.token },
      { name: 'Demo editor', token: demo.writer, access: 'write' },
      { name: 'Demo sender', token: demo.ingestToken, access: 'ingest' },
    ],
    dashboards: [fleetOverview(demo.dashboardId), serviceHealth, pilothouse, logsExplorer],
    channels: demoChannels,
    savedSearches: demoSavedSearches,
    alerts: demoAlerts,
    ...(withCosts && { usageCosts: listDemoCosts(demoMeters(ids, nowMs), TIER, nowMs) }),
  };
  return { organizations: [organization] };
}

/** Four to eleven days ahead. Changes once a week only, so that a restart of the demo rarely changes the key. */
const chooseExpiry = (nowMs: number): string =>
  isoSeconds((Math.floor(nowMs / (7 * DAY_MS)) + 1) * 7 * DAY_MS + 4 * DAY_MS);
