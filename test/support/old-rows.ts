import { hashSecret } from '../../src/platform/credentials/secrets.ts';
import { appendToChain, EMPTY_CHAIN, encodeActivity } from '../../src/platform/state/activity-chain.ts';

type Row = Record<string, string | number | null>;

export const old = {
  id: '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d',
  admin: { keyId: 'OldAdminKey000000001', keySecret: 'old-admin-secret' },
  token: 'old-dashboard-token',
  service: '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11',
  warehouse: '3ab15151-9e4d-4e31-b28a-5e906f4dc144',
  dashboard: '64f0c1d2e3a4b5c6d7e8f900',
  deletedDashboard: '64f0c1d2e3a4b5c6d7e8f902',
  source: '64f0c1d2e3a4b5c6d7e8f901',
  budget: 'e3b47d70-51e5-4c2b-84d3-622c34fc77f6',
  role: 'a1b2c3d4-51e5-4c2b-84d3-622c34fc77f6',
  day: '2026-03-01',
};

const KEY = '09247ea1-f64b-54a6-9110-1f63b30b7e2c';
const TIME = Date.parse(`${old.day}T12:00:00Z`);
const organization_id = old.id;

/** The versions of migrations that changed the contents of columns, not only the columns. */
const LIFECYCLE = 13;

/** Two of them, as the first version stored them; later columns are copies of members. */
function listActivities(): Row[] {
  let head = { ...EMPTY_CHAIN };
  return ['create_organization', 'key_create'].map((type, index) => {
    const id = `0190a000-0000-7000-8000-00000000000${index}`;
    const actor = { type: 'system', id: 'apply', details: 'pilothouse apply, Ünit' };
    const resource = { type: type === 'key_create' ? 'key' : 'organization', id: type === 'key_create' ? KEY : old.id };
    const document = JSON.stringify({ id, createdAt: TIME, actor, organizationId: old.id, type, resource });
    const columns = { type, actor_id: actor.id, actor_name: actor.details, resource_id: resource.id };
    const row = { organization_id, id, created_at: TIME, document, ...columns };
    head = appendToChain(head, encodeActivity(row));
    return { ...row, sequence: head.sequence, hash: head.hash };
  });
}

function createService(version: number): Row {
  const state = version < LIFECYCLE ? { state: 'idle' } : { driver: 'simulated', desiredState: 'running' };
  const scaling = {
    numReplicas: 3,
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 120,
    idleScaling: true,
    idleTimeoutMinutes: 15,
  };
  const document = {
    id: old.service,
    organizationId: old.id,
    name: 'Analytics',
    kind: 'production',
    ...state,
    dataWarehouseId: old.warehouse,
    isPrimary: true,
    scaling,
    createdAt: TIME,
    details: { isReadonly: false, provider: 'aws', region: 'eu-central-1', tags: [{ key: 'team', value: 'data' }] },
  };
  return {
    id: old.service,
    organization_id,
    created_at: TIME,
    document: JSON.stringify(document),
    observed: JSON.stringify({ state: 'idle', since: TIME }),
    sort_name: 'analytics',
    driver: 'simulated',
    generation: 1,
    settled_generation: 1,
    data_warehouse_id: old.warehouse,
  };
}

function createKey(): Row {
  const { keyId, keySecret } = old.admin;
  const key_id_hash = hashSecret(keyId);
  const document = {
    id: KEY,
    organizationId: old.id,
    name: 'Old admin',
    state: 'enabled',
    roles: ['admin'],
    ipAccessList: [{ source: '127.0.0.0/8' }, { source: '::1' }],
    keyIdHash: key_id_hash,
    keySuffix: keyId.slice(-4),
    keySecretHash: hashSecret(keySecret),
    createdAt: TIME,
  };
  const row = { id: KEY, organization_id, key_id_hash, created_at: TIME, used_at: null, sort_name: 'old admin' };
  return { ...row, document: JSON.stringify(document) };
}

const MICROS = [
  'storage',
  'backup',
  'compute',
  'data_transfer',
  'initial_load',
  'public_data_transfer',
  'inter_region_tier1',
  'inter_region_tier2',
  'inter_region_tier3',
  'inter_region_tier4',
];

const entity = { entity_type: 'service', entity_id: old.service };

/** Stored with the defaults of the time. */
const series = { type: 'markdown', content: '"series":[', groupBy: [], where: '', whereLanguage: 'lucene' };
const dashboardDocument = JSON.stringify({
  id: old.dashboard,
  name: 'Old board',
  tags: ['old'],
  tiles: [{ id: 't', name: 'T', asRatio: false, x: 0, y: 0, w: 1, h: 1, series: [series] }],
});

/**
 * Rows for every table, as a version of the program with the schema `version` stored them. A row has the columns of all
 * schemas; the caller takes those that exist. A migration that adds a table needs an entry here.
 */
export function listOldRows(version: number): Record<string, Row[]> {
  const activities = listActivities();
  const newest = activities.at(-1);
  return {
    organizations: [
      {
        id: old.id,
        name: 'Old',
        tier: 'SCALE',
        paid: 1,
        created_at: TIME,
        key_count: 1,
        cost_revision: 3,
        dashboard_revision: 2,
        dashboard_count: 1,
        dashboard_bytes: Buffer.byteLength(dashboardDocument),
        counted_revision: 2,
        audit_sequence: newest?.sequence ?? 0,
        audit_hash: newest?.hash ?? '',
        role_revision: 1,
      },
    ],
    activities,
    api_keys: [createKey()],
    services: [createService(version)],
    service_tags: ['team', 'team=data'].map((tag) => ({
      organization_id,
      id: old.service,
      tag,
      created_at: TIME,
      sort_name: 'analytics',
      warehouse_id: old.warehouse,
    })),
    usage_costs: [
      {
        organization_id,
        date: old.day,
        ...entity,
        entity_name: 'Analytics',
        data_warehouse_id: old.warehouse,
        service_id: old.service,
        locked: 1,
        ...Object.fromEntries(MICROS.map((name, index) => [`${name}_micros`, index * 1_000_000])),
      },
    ],
    dashboard_tokens: [
      {
        id: '5a2cd514-c492-5706-a8b5-17bf018e3041',
        organization_id,
        name: 'Old viewer',
        token_hash: hashSecret(old.token),
        token_suffix: old.token.slice(-4),
        created_at: TIME,
        expire_at: null,
        used_at: null,
        access: 'read',
      },
    ],
    dashboards: [
      {
        organization_id,
        id: old.dashboard,
        name: 'Old board',
        document: dashboardDocument,
        created_at: TIME,
        updated_at: TIME,
        version: 1,
        provisioned_from: null,
      },
    ],
    dashboard_versions: [old.dashboard, old.deletedDashboard].map((dashboard_id) => ({
      organization_id,
      dashboard_id,
      version: 1,
      saved_at: TIME,
      saved_by: 'fleet',
      provisioned_from: null,
      name: 'Old board',
      tile_count: 1,
      document: dashboardDocument,
    })),
    deleted_dashboards: [{ organization_id, dashboard_id: old.deletedDashboard, deleted_at: TIME }],
    dashboard_sources: [
      {
        organization_id,
        id: old.source,
        name: 'Old logs',
        // The first sources had no kind.
        document: JSON.stringify({
          id: old.source,
          name: 'Old logs',
          from: { databaseName: 'pilothouse', tableName: 'otel_logs' },
          timestampValueExpression: 'Timestamp',
          connection: 'engine',
        }),
      },
    ],
    fleet_documents: [{ organization_id, kind: 'organization', id: old.id, document: '{"name":"Old"}' }],
    price_books: [
      {
        version: 1,
        effective_from: '2026-01-01',
        created_at: TIME,
        document: JSON.stringify({ prices: [{ meter: 'compute', unitPrice: '0.30' }] }),
      },
    ],
    usage_ledger: [
      {
        organization_id,
        date: old.day,
        ...entity,
        meter: 'compute',
        usage_date: old.day,
        quantity: '10',
        price_version: 1,
        unit_price: '0.20',
        micros: 2_000_000,
      },
    ],
    usage_days: [
      {
        organization_id,
        date: old.day,
        revision: 1,
        rated_revision: 1,
        rated_at: TIME,
        locked: 1,
        events: 10,
        mismatch: null,
      },
    ],
    budgets: [
      {
        organization_id,
        id: old.budget,
        document: JSON.stringify({
          id: old.budget,
          organizationId: old.id,
          name: 'Old budget',
          monthlyMicros: 1_600_000_000,
          thresholds: [50, 'forecast'],
          createdAt: TIME,
          updatedAt: TIME,
        }),
      },
    ],
    budget_notices: [
      {
        organization_id,
        budget_id: old.budget,
        month: '2026-03',
        threshold: '50',
        created_at: TIME,
        attempts: 0,
        next_attempt_at: null,
        document: JSON.stringify({ deliveryId: old.budget, body: '{}', delivery: 'none' }),
      },
    ],
    console_sessions: [
      {
        session_hash: hashSecret('old-session'),
        organization_id,
        kind: 'key',
        credential_id: KEY,
        secret_hash: hashSecret(old.admin.keySecret),
        created_at: TIME,
        seen_at: TIME,
        expires_at: TIME + 1,
      },
    ],
    setup_codes: [{ code_hash: hashSecret('old-setup-code'), created_at: TIME }],
    usage_intakes: [{ organization_id, holder: '', expires_at: TIME, days: '[]' }],
    usage_engines: [{ id: 1, identity: '98637262-a4b5-4c1c-bd07-fd21ac5779f3', bound_at: TIME }],
    engine_owners: [{ id: 1, node: old.role, directory: 'x', host: 'x', pid: 1, address: 'x', renewed_at: TIME }],
    rate_windows: [{ id: 'attempts 203.0.113.7', ends_at: TIME, taken: 1 }],
    session_cookies: [{ id: 1, suffix: '0123456789abcdef0123456789abcdef' }],
    lock_clocks: [{ id: 1, passed_at: TIME }],
    completed_restores: [{ id: 1, restore_id: old.role, completed_at: TIME }],
    idempotent_responses: [
      {
        organization_id,
        credential_id: KEY,
        key_hash: 'x',
        request_hash: 'x',
        created_at: TIME,
        result: null,
        headers: '{}',
      },
    ],
    custom_roles: [
      {
        organization_id,
        id: old.role,
        name: 'Old role',
        created_at: TIME,
        document: JSON.stringify({
          id: old.role,
          organizationId: old.id,
          name: 'Old role',
          policies: [
            {
              allowDeny: 'ALLOW',
              permissions: ['control-plane:organization:view'],
              resources: [`organization/${old.id}`],
            },
          ],
          createdAt: TIME,
          updatedAt: TIME,
        }),
      },
    ],
    service_removals: [
      { organization_id, id: old.role, driver: 'simulated', document: '{}', observed: '{}', removed_at: TIME },
    ],
    leases: [{ name: 'old', holder: 'x', host: 'x', pid: 1, renewed_at: TIME }],
    endpoint_ports: [{ port: 18_200, organization_id, service_id: old.service }],
    usage_slices: [
      {
        organization_id,
        service_id: old.service,
        id: 'x/1',
        document: JSON.stringify({ dataWarehouseId: old.warehouse, at: TIME, quantities: { compute: 1 } }),
      },
    ],
    service_load: [{ organization_id, service_id: old.service, hour: TIME, samples: '[[2,16,1,0,null,792,0]]' }],
    autoscaling_decisions: [
      {
        organization_id,
        service_id: old.service,
        id: '0190a000-0000-7000-8000-000000000009',
        created_at: TIME,
        is_applied: 0,
        document: JSON.stringify({
          at: TIME,
          action: 'grow',
          from: { memoryGb: 16, replicas: 3 },
          to: { memoryGb: 24, replicas: 3 },
          inputs: { mode: 'vertical' },
          reason: 'old',
        }),
      },
    ],
  };
}
