// The data of the measured server: one organization with services, a month of costs and dashboards.
const createId = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

export const organizationId = createId(1);
export const serviceId = createId(1000);
export const dashboardId = 'bench-000';
export const token = 'bench-dashboard-token';
export const key = { keyId: 'BenchAdminKey0000001', keySecret: 'bench-secret' };

const DASHBOARDS = 100;

/** 12 tiles, about 6 KB. */
const dashboard = (index) => ({
  id: `bench-${String(index).padStart(3, '0')}`,
  name: `Dashboard ${index}`,
  tags: ['bench', `team-${index % 7}`],
  tiles: Array.from({ length: 12 }, (_, tile) => ({
    id: `tile-${tile}`,
    name: `Requests and errors ${tile}`,
    x: (tile % 2) * 12,
    y: Math.floor(tile / 2) * 4,
    w: 12,
    h: 4,
    series: ['error', 'warn'].map((level) => ({
      type: 'time',
      dataSource: 'events',
      aggFn: 'count',
      where: `SeverityText:${level} AND ServiceName:"checkout-${tile}"`,
      groupBy: ['ServiceName'],
      sourceId: 'logs',
    })),
  })),
});

/** The first `withCosts` services have costs. */
export function benchFleet({ entities, days, withCosts = entities }) {
  const services = Array.from({ length: entities }, (_, index) => ({
    id: createId(1000 + index),
    name: `service-${index}`,
    numReplicas: 3,
    databaseVersion: '26.7',
    endpoints: [
      { protocol: 'nativesecure', host: `service-${index}.bench.internal`, port: 9440 },
      { protocol: 'https', host: `service-${index}.bench.internal`, port: 8443 },
    ],
    ipAccessList: [{ source: '10.0.0.0/8', description: 'Office' }],
    privateEndpointIds: ['vpce-0a1b2c3d4e5f60718'],
  }));
  const usageCosts = Array.from({ length: days }, (_, day) => day).flatMap((day) =>
    services.slice(0, withCosts).map(({ id: entityId }, index) => ({
      date: `2026-10-${String(day + 1).padStart(2, '0')}`,
      entityType: 'service',
      entityId,
      locked: true,
      metrics: {
        computeCHC: ((index + 1) * (day + 7) * 12_347) / 1e6,
        publicDataTransferCHC: (index * 1_001 + day) / 1e6,
      },
    })),
  );
  return {
    organizations: [
      {
        id: organizationId,
        name: 'Bench',
        tier: 'SCALE',
        paid: true,
        services,
        keys: [{ name: 'bench', ...key, roles: ['admin'] }],
        usageCosts,
        dashboardTokens: [{ name: 'bench', token }],
        dashboards: Array.from({ length: DASHBOARDS }, (_, index) => dashboard(index)),
      },
    ],
  };
}
