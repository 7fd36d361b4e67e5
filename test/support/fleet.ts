/** Two isolated organizations and a BASIC one, with the resources that the API tests need. */

export const acme = {
  id: '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d',
  admin: { keyId: 'AcmeAdminKey00000001', keySecret: 'acme-admin-secret' },
  developer: { keyId: 'AcmeDevKey0000000001', keySecret: 'acme-developer-secret' },
  query: { keyId: 'AcmeQueryKey00000001', keySecret: 'acme-query-secret' },
  disabled: { keyId: 'AcmeDisabledKey00001', keySecret: 'acme-disabled-secret' },
  expired: { keyId: 'AcmeExpiredKey000001', keySecret: 'acme-expired-secret' },
  token: 'acme-dashboard-token',
  /** Can also change dashboards and sources. */
  writer: 'acme-dashboard-writer',
  /** Production, first of its warehouse, paid organization: 16–120 GB per replica, 3 replicas. */
  primary: '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11',
  /** Production, second of the same warehouse. */
  secondary: '1e9f3f3f-7c2b-4c1f-9068-3c7e4d2baf22',
  /** Development: a fixed size. */
  development: '2fa04040-8d3c-4d20-a179-4d8f5e3cb033',
  warehouse: '3ab15151-9e4d-4e31-b28a-5e906f4dc144',
  /** Also the id of a source: ids are unique within one kind of resource. */
  dashboard: '64f0c1d2e3a4b5c6d7e8f900',
};

export const globex = {
  id: '8d1f5b45-4d1f-4a1c-8d5f-2e3a4b5c6d7e',
  admin: { keyId: 'GlobexAdminKey000001', keySecret: 'globex-admin-secret' },
  token: 'globex-dashboard-token',
  writer: 'globex-dashboard-writer',
  /** Production, first of its warehouse, in a non-paid organization. */
  primary: '4bc26262-af5e-4f42-839b-6fa17a5ed255',
  dashboard: '64f0c1d2e3a4b5c6d7e8f901',
};

export const initech = {
  id: '9e2a6c56-5e2a-4b2d-9e6a-3f4b5c6d7e8f',
  admin: { keyId: 'InitechAdminKey00001', keySecret: 'initech-admin-secret' },
  /** In a BASIC organization: one replica, a fixed size. */
  primary: '5cd37373-b06f-4053-94ac-70b28b6fe366',
};

const dashboard = (id: string, name: string) => ({
  id,
  name,
  tags: ['test'],
  tiles: [
    {
      id: 'one',
      name: 'One',
      x: 0,
      y: 0,
      w: 12,
      h: 4,
      series: [{ type: 'time', aggFn: 'count', dataSource: 'events' }],
    },
  ],
});

export const fleet = {
  organizations: [
    {
      id: acme.id,
      name: 'Acme',
      tier: 'SCALE',
      paid: true,
      services: [
        {
          id: acme.primary,
          name: 'analytics',
          dataWarehouseId: acme.warehouse,
          isPrimary: true,
          numReplicas: 3,
          minTotalMemoryGb: 48,
          maxTotalMemoryGb: 360,
          idleScaling: true,
          idleTimeoutMinutes: 15,
        },
        { id: acme.secondary, name: 'reader', dataWarehouseId: acme.warehouse, isPrimary: false, numReplicas: 2 },
        { id: acme.development, name: 'sandbox', kind: 'development' },
      ],
      keys: [
        { name: 'admin', ...acme.admin, roles: ['admin'] },
        { name: 'developer', ...acme.developer, roles: ['developer'] },
        { name: 'query', ...acme.query, roles: ['query_endpoints'] },
        { name: 'disabled', ...acme.disabled, roles: ['admin'], state: 'disabled' },
        { name: 'expired', ...acme.expired, roles: ['admin'], expireAt: '2026-01-01T00:00:00Z' },
      ],
      dashboardTokens: [
        { name: 'wallboard', token: acme.token },
        { name: 'editor', token: acme.writer, access: 'write' },
      ],
      sources: [{ id: acme.dashboard, name: 'Acme logs', kind: 'log' }],
      dashboards: [dashboard(acme.dashboard, 'Acme board')],
      usageCosts: [
        {
          date: '2026-10-01',
          entityType: 'service',
          entityId: acme.primary,
          locked: true,
          metrics: { computeCHC: 12.345678, publicDataTransferCHC: 0.1 },
        },
        {
          date: '2026-10-01',
          entityType: 'datawarehouse',
          entityId: acme.warehouse,
          locked: true,
          metrics: { storageCHC: 0.2, backupCHC: 0.1 },
        },
        { date: '2026-10-02', entityType: 'service', entityId: acme.primary, metrics: { computeCHC: 1.000001 } },
      ],
    },
    {
      id: globex.id,
      name: 'Globex',
      tier: 'SCALE',
      paid: false,
      services: [{ id: globex.primary, name: 'main', numReplicas: 2 }],
      keys: [{ name: 'admin', ...globex.admin, roles: ['admin'] }],
      dashboardTokens: [
        { name: 'wallboard', token: globex.token },
        { name: 'editor', token: globex.writer, access: 'write' },
      ],
      sources: [{ id: globex.dashboard, name: 'Globex logs', kind: 'log' }],
      dashboards: [dashboard(globex.dashboard, 'Globex board')],
      usageCosts: [
        { date: '2026-10-01', entityType: 'service', entityId: globex.primary, metrics: { computeCHC: 99.5 } },
      ],
    },
    {
      id: initech.id,
      name: 'Initech',
      tier: 'BASIC',
      paid: true,
      services: [{ id: initech.primary, name: 'only' }],
      keys: [{ name: 'admin', ...initech.admin, roles: ['admin'] }],
    },
  ],
};
