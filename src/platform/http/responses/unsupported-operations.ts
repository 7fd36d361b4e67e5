/**
 * Parts of the public interfaces that Pilothouse does not have, and why: clients that know them get the reason with a 501.
 * They would take a 404 for a resource that was deleted. By the first segment below the organization, the service or the
 * prefix of the interface.
 */
type Parts = Readonly<Record<string, string>>;

export const ORGANIZATION_PARTS: Parts = {
  balances: 'Pilothouse records cost but sells no credits',
  byocInfrastructure: 'Pilothouse does not manage cloud accounts',
  creditBalances: 'Pilothouse records cost but sells no credits',
  notificationTypes: 'Alerts and budgets choose where they send notifications; see /api/v2/webhooks',
  notifications: 'Notifications of alerts and budgets are at /api/v2/notifications',
  postgres: 'Pilothouse manages ClickHouse services only',
  privateEndpointConfig: 'Pilothouse does not manage cloud networks; each service has a privateEndpointConfig',
  quotas: 'The limits of an organization are settings of the server',
  scim: 'Members come from member rules and invitations; there is no SCIM',
  serviceProfiles: 'Pilothouse has no machine profiles; set the memory of a replica instead',
  udfs: 'Pilothouse does not manage user-defined functions',
};

export const SERVICE_PARTS: Parts = {
  backupBucket: 'The server settings --backup-storage and --backup-directory decide where backups are stored',
  clickhouseSettings: 'Pilothouse does not manage the settings of the database',
  clickpipes: 'Pilothouse does not manage ingestion pipelines',
  clickpipesCdcScaling: 'Pilothouse does not manage ingestion pipelines',
  clickpipesReversePrivateEndpoints: 'Pilothouse does not manage ingestion pipelines',
  privateEndpoint: 'Pilothouse does not manage cloud networks',
  'query-api-endpoints':
    'Pilothouse does not run queries for clients by name; use the query endpoint of the service (serviceQueryEndpoint)',
  replicaAwareRouting: 'Pilothouse does not route queries',
  snapshotConfiguration: 'Pilothouse does not take snapshots of services',
  snapshots: 'Pilothouse does not take snapshots of services',
  upgradeWindow: 'Pilothouse does not upgrade services on its own',
};

export const MEMBERS_ELSEWHERE =
  'Members and invitations are at /v1/organizations/{organizationId}/members and …/invitations';

/** The same below `/api/v2` and below `clickstack` of a service. */
const CLICK_STACK_PARTS: Parts = {
  invitation: MEMBERS_ELSEWHERE,
  invitations: MEMBERS_ELSEWHERE,
  member: MEMBERS_ELSEWHERE,
  members: MEMBERS_ELSEWHERE,
  roles: 'The roles of keys are those of the management interface; tokens read or write',
  team: MEMBERS_ELSEWHERE,
};

export const DASHBOARD_PARTS: Parts = CLICK_STACK_PARTS;

/** Operations that only `/api/v2` has. */
const MANAGED_CLICK_STACK_PARTS: Parts = {
  ...CLICK_STACK_PARTS,
  charts: 'Query series with a token at /api/v2/charts/series',
  search: 'Search with a token at /api/v2/search',
  connections: 'Sources use the engine of the server; there are no other connections',
};

/** By the path below the service. */
export const CLICK_STACK_SERVICE_PARTS: Parts = Object.fromEntries(
  Object.entries(MANAGED_CLICK_STACK_PARTS).map(([part, reason]) => [`clickstack/${part}`, reason]),
);
