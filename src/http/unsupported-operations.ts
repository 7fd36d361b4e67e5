/**
 * Parts of the hosted service's management interface that Pilothouse does not have, and why: clients that know them get
 * the reason with the 404. By the first segment below the organization or the service.
 */
const ORGANIZATION_PARTS: Record<string, string> = {
  balances: 'Pilothouse records cost but sells no credits',
  byocInfrastructure: 'Pilothouse does not manage cloud accounts',
  creditBalances: 'Pilothouse records cost but sells no credits',
  invitations: 'Pilothouse has no user accounts; create a key instead',
  members: 'Pilothouse has no user accounts; list the keys instead',
  notificationTypes: 'Pilothouse sends alerts of budgets only; see /budgets',
  notifications: 'Pilothouse sends alerts of budgets only; see /budgets',
  postgres: 'Pilothouse manages ClickHouse services only',
  privateEndpointConfig:
    'Pilothouse does not manage cloud networks; services have a privateEndpointConfig of their own',
  quotas: 'The limits of an organization are settings of the server',
  scim: 'Pilothouse has no user accounts',
  serviceProfiles: 'Pilothouse has no machine profiles; set the memory of a replica instead',
  udfs: 'Pilothouse does not manage user-defined functions',
};

const SERVICE_PARTS: Record<string, string> = {
  backupBucket: 'Pilothouse does not back up the data of services',
  backups: 'Pilothouse does not back up the data of services',
  clickhouseSettings: 'Pilothouse does not manage the settings of the database',
  clickpipes: 'Pilothouse does not manage ingestion pipelines',
  clickpipesCdcScaling: 'Pilothouse does not manage ingestion pipelines',
  clickpipesReversePrivateEndpoints: 'Pilothouse does not manage ingestion pipelines',
  clickstack: 'Pilothouse supports the dashboards and sources of ClickStack only',
  privateEndpoint: 'Pilothouse does not manage cloud networks',
  'query-api-endpoints': 'Pilothouse does not run queries for clients',
  replicaAwareRouting: 'Pilothouse does not route queries',
  'saved-queries': 'Pilothouse does not store queries',
  snapshotConfiguration: 'Pilothouse does not take snapshots of services',
  snapshots: 'Pilothouse does not take snapshots of services',
  upgradeWindow: 'Pilothouse does not upgrade services on its own',
};

/** The reason why the hosted service has an operation at this path and Pilothouse does not. */
export function findUnsupportedReason(method: string, path: string): string | undefined {
  const [, version, collection, organizationId, part, , servicePart = ''] = path.split('/');
  if (version !== 'v1' || collection !== 'organizations') return undefined;
  if (part === undefined)
    return organizationId && method === 'PATCH' ? 'Organizations are declared in the fleet file' : undefined;
  return part === 'services' ? getOwn(SERVICE_PARTS, servicePart) : getOwn(ORGANIZATION_PARTS, part);
}

const getOwn = (reasons: Record<string, string>, name: string): string | undefined =>
  Object.hasOwn(reasons, name) ? reasons[name] : undefined;

/** Of the query service of the hosted system, which clients can be told to look for at this address. */
const QUERY_PATH = /^\/service\/[^/]+\/run$/;

/**
 * Why a statement for the hosted query service is not run. Clients take a 404 for an endpoint that is not ready yet, and
 * try again for minutes; so the response is another.
 */
export const findQueryReason = (path: string): string | undefined =>
  QUERY_PATH.test(path)
    ? 'Pilothouse does not run queries for clients; connect to the address in endpoints of the service'
    : undefined;
