const ORGANIZATION = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const SERVICE = '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11';
const WAREHOUSE = '3ab15151-9e4d-4e31-b28a-5e906f4dc144';
const ROLE = '4f0f3f6a-1f2e-5d5b-9c3a-7a8b9c0d1e2f';
const SOURCE = '64f0c1d2e3a4b5c6d7e8f900';
const KEY = '01a1e483-34c0-7000-a390-153b08a146b0';

const apiKey = {
  id: KEY,
  name: 'ci',
  state: 'enabled',
  roles: ['admin'],
  assignedRoles: [{ roleId: ROLE, roleName: 'Admin', roleType: 'system' }],
  keySuffix: 'q7Zd',
  createdAt: '2026-11-01T08:30:00Z',
  expireAt: null,
  ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }],
};

const metrics = {
  backupCHC: 0,
  computeCHC: 12.345678,
  dataTransferCHC: 0,
  initialLoadCHC: 0,
  interRegionTier1DataTransferCHC: 0,
  interRegionTier2DataTransferCHC: 0,
  interRegionTier3DataTransferCHC: 0,
  interRegionTier4DataTransferCHC: 0,
  publicDataTransferCHC: 0.25,
  storageCHC: 0,
};

const cost = {
  dataWarehouseId: WAREHOUSE,
  date: '2026-11-01',
  entityId: SERVICE,
  entityName: 'analytics',
  entityType: 'service',
  locked: true,
  metrics,
  serviceId: SERVICE,
  totalCHC: 12.595678,
};

const series = { type: 'time', aggFn: 'count', where: 'SeverityText:error', whereLanguage: 'lucene', groupBy: [] };
const tile = { id: 'errors', name: 'Errors', x: 0, y: 0, w: 12, h: 4, asRatio: false, series: [series] };

const range = { startTime: '2026-11-01T00:00:00Z', endTime: '2026-11-01T01:00:00Z' };
const search = { sourceId: 'logs', where: 'SeverityText:error', whereLanguage: 'lucene' };
const traceSearch = { sourceId: 'traces', start: range.startTime, end: range.endTime, where: 'ServiceName:checkout' };

const alert = {
  name: 'Many errors',
  source: 'metric',
  metric: { sourceId: 'logs', aggFn: 'count', where: 'SeverityText:error', whereLanguage: 'lucene' },
  interval: '5m',
  threshold: 100,
  thresholdType: 'above',
  channel: { type: 'webhook', webhookId: SOURCE },
};

const policy = {
  allowDeny: 'ALLOW',
  permissions: ['control-plane:organization:view'],
  resources: [`organization/${ORGANIZATION}`],
};

/** Examples of schemas by their title. Tests validate them, and send those of requests. */
export const EXAMPLES: Record<string, unknown> = {
  AlertInput: alert,
  AlertPreviewInput: { alert, days: 1 },
  AlertSilenceInput: { until: '2026-11-02T08:00:00Z', reason: 'Maintenance' },
  ApiKey: apiKey,
  ApiKeyPatchRequest: { state: 'disabled' },
  ApiKeyPostRequest: { name: 'ci', roles: ['admin'], ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }] },
  ApiKeyPostResponse: { key: apiKey, keyId: 'AbCdEfGhIjKlMnOpq7Zd', keySecret: 'phs_…' },
  ApiKeyRotateRequest: { gracePeriodHours: 24 },
  AutoscalingPatchRequest: { mode: 'recommend' },
  BackupConfigurationPatchRequest: { backupPeriodInHours: 24, backupRetentionPeriodInHours: 168 },
  BudgetPatchRequest: { monthlyCHC: 1500 },
  BudgetPostRequest: { name: 'Production', monthlyCHC: 1000, thresholds: [50, 90, 'forecast'] },
  ChartSeriesRequest: {
    series: [
      { sourceId: SOURCE, dataSource: 'events', aggFn: 'count', where: '', whereLanguage: 'lucene', groupBy: [] },
    ],
    startTime: 1_793_520_000_000,
    endTime: 1_793_523_600_000,
    granularity: '5m',
  },
  Dashboard: { id: SOURCE, name: 'Errors', tags: ['production'], tiles: [tile] },
  DashboardError: { message: 'Dashboard not found' },
  DashboardInput: { name: 'Errors', tags: ['production'], tiles: [tile] },
  DashboardTokenPatchRequest: { name: 'wallboard' },
  DashboardTokenPostRequest: { name: 'wallboard', access: 'read' },
  ManagementError: {
    requestId: '242886c2-0556-4862-92d0-e0203ced1466',
    error: 'BAD_REQUEST: request body.minTotalMemoryGb: The value must be a multiple of 12 <number:32>',
    status: 400,
  },
  Organization: {
    id: ORGANIZATION,
    name: 'Acme',
    createdAt: '2026-11-01T08:30:00Z',
    tier: 'SCALE',
    privateEndpoints: [],
    byocConfig: [],
    enableCoreDumps: false,
    keepSqlLiterals: false,
    capabilities: { snapshots: false },
  },
  RoleCreateRequest: { name: 'Readers', policies: [policy] },
  RoleUpdateRequest: { name: 'Readers', policies: [policy] },
  ScalingSchedulePostRequest: {
    entries: [{ name: 'Nights', weekdays: [1, 2, 3, 4, 5], startHourUtc: 20, endHourUtc: 6, idleTimeoutMinutes: 5 }],
  },
  SavedSearchInput: { name: 'Errors', ...search, select: 'Timestamp, Body', tags: ['production'] },
  SearchContextRequest: { ...search, time: range.startTime, rangeMs: 60_000 },
  SearchExportRequest: { ...search, ...range, format: 'csv' },
  SearchFacetValuesRequest: { ...search, ...range, fields: ['ServiceName'] },
  SearchFacetsRequest: { sourceId: 'logs', ...range },
  SearchHistogramRequest: { ...search, ...range, granularity: '5m' },
  SearchRequest: { ...search, ...range, select: 'Timestamp, Body', maxResults: 100 },
  SearchTailRequest: search,
  ServiceMapRequest: traceSearch,
  ServiceReplicaScalingPatchRequest: { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 120, numReplicas: 3 },
  ServicePasswordPatchRequest: {},
  ServicePatchRequest: { name: 'analytics', tags: { add: [{ key: 'team', value: 'data' }] } },
  ServicePreviewRequest: {
    provider: 'aws',
    region: 'us-east-1',
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 120,
    numReplicas: 3,
  },
  ServicePostRequest: {
    name: 'analytics',
    provider: 'aws',
    region: 'us-east-1',
    ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }],
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 120,
    numReplicas: 3,
  },
  ServiceScalingPatchRequest: { numReplicas: 4, idleScaling: true, idleTimeoutMinutes: 15 },
  ServiceStatePatchRequest: { command: 'start' },
  SourceInput: { name: 'Logs', kind: 'log', from: { tableName: 'otel_logs' } },
  TelemetryLimitsPatchRequest: { logs: { rowsPerMinute: 100_000 } },
  TelemetryRetentionPatchRequest: { logs: 7 },
  TelemetryRulesPutRequest: {
    rules: [{ name: 'Health checks', signal: 'traces', where: 'SpanName:"GET /health"', action: 'drop' }],
  },
  TileDataRequest: { series: [series], start: range.startTime, end: range.endTime },
  TraceOperationsRequest: traceSearch,
  TraceSearchRequest: { ...traceSearch, orderBy: 'slowest' },
  WebhookInput: { name: 'On call', service: 'generic', url: 'https://example.com/hook' },
  UsageCost: { grandTotalCHC: 12.595678, costs: [cost] },
};
