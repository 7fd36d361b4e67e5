import { CLICKSTACK_READS, CLICKSTACK_WRITES } from './clickstack-operations.ts';
import { DASHBOARD_READS, DASHBOARD_WRITES } from './dashboard-operations.ts';

/** What a permission applies to: the organization as a whole, or single services. */
export type PermissionScope = 'organization' | 'service';

interface Permission {
  scope: PermissionScope;
  /** The system role developer has every operation that some `read` permission contains. */
  access: 'read' | 'write';
  help: string;
  operations: readonly string[];
}

const organization = (access: Permission['access'], help: string, operations: string[]): Permission => ({
  scope: 'organization',
  access,
  help,
  operations,
});
const service = (access: Permission['access'], help: string, operations: string[]): Permission => ({
  scope: 'service',
  access,
  help,
  operations,
});

/**
 * All permissions that a custom role can name, with the operations that each contains. Names that start with
 * `control-plane:` are those of the public service. An operation may be in several permissions; any of them is enough.
 */
const PERMISSIONS: Readonly<Record<string, Permission>> = {
  'control-plane:organization:view': organization('read', 'View the organization, its roles and its usage cost', [
    'organizationGetList',
    'organizationGet',
    'organizationRolesGetList',
    'organizationRoleGet',
    'usageCostGet',
    'organizationPrometheusGet',
    'organizationPrometheusDiscoveryGet',
  ]),
  'control-plane:organization:manage': organization(
    'write',
    'Rename the organization; create, change and delete custom roles',
    ['organizationUpdate', 'organizationRolePost', 'organizationRolePatch', 'organizationRoleDelete'],
  ),
  'control-plane:organization:view-activities': organization('read', 'View the audit log', [
    'activityGetList',
    'activityGet',
  ]),
  'control-plane:organization:view-billing': organization('read', 'View costs, reports, budgets and usage warnings', [
    'usageCostGet',
    'usageCostSummaryGet',
    'usageCostExport',
    'usageCostForecastGet',
    'budgetGetList',
    'budgetGet',
    'usageWarningGetList',
  ]),
  'control-plane:organization:manage-billing': organization(
    'write',
    'Send usage events, and lock days; with view-billing, manage budgets',
    ['budgetCreate', 'budgetUpdate', 'budgetDelete', 'usageEventsCreate', 'usageLockCreate'],
  ),
  'control-plane:organization:view-api-keys': organization('read', 'View keys and dashboard tokens', [
    'openapiKeyGetList',
    'openapiKeyGet',
    'dashboardTokenGetList',
  ]),
  'control-plane:organization:create-api-keys': organization('write', 'Create keys and dashboard tokens', [
    'openapiKeyCreate',
    'dashboardTokenCreate',
  ]),
  'control-plane:organization:update-api-keys': organization('write', 'Change and rotate keys and dashboard tokens', [
    'openapiKeyUpdate',
    'openapiKeyRotate',
    'dashboardTokenUpdate',
  ]),
  'control-plane:organization:delete-api-keys': organization('write', 'Delete keys and dashboard tokens', [
    'openapiKeyDelete',
    'dashboardTokenDelete',
  ]),
  'control-plane:organization:view-members': organization('read', 'View members and invitations', [
    'memberGetList',
    'memberGet',
    'invitationGetList',
    'invitationGet',
  ]),
  'control-plane:organization:manage-members': organization(
    'write',
    'Invite people, change and remove members, view and end their sessions',
    [
      'memberUpdate',
      'memberDelete',
      'memberSessionGetList',
      'memberSessionsDelete',
      'memberSessionDelete',
      'invitationCreate',
      'invitationDelete',
    ],
  ),
  'control-plane:organization:create-service': organization(
    'write',
    'Create services, and preview their cost; from a backup only with view-backups and sql:read of its service',
    ['instanceCreate', 'instanceCreatePreview'],
  ),
  'control-plane:service:view': service('read', 'View services, their metrics and their log', [
    'instanceGetList',
    'instanceGet',
    'instanceIdleGet',
    'instanceLogGet',
    'instanceSlowQueriesGet',
    'instancePrometheusGet',
  ]),
  'control-plane:service:manage': service(
    'write',
    'Change, start and stop services; with sql:read and sql:write, set their password',
    ['instanceUpdate', 'instanceStateUpdate', 'instancePasswordUpdate'],
  ),
  'control-plane:service:delete': service('write', 'Delete services', ['instanceDelete']),
  'control-plane:service:view-scaling-config': service(
    'read',
    'Preview scaling, and view the schedule and autoscaling',
    [
      'instanceScalingPreview',
      'instanceReplicaScalingPreview',
      'scalingScheduleGet',
      'instanceAutoscalingGet',
      'instanceAutoscalingDecisionGetList',
      'instanceAutoscalingHistoryGet',
    ],
  ),
  'control-plane:service:manage-scaling-config': service(
    'write',
    'Change and preview scaling, the schedule and autoscaling',
    [
      'instanceScalingUpdate',
      'instanceReplicaScalingUpdate',
      'instanceScalingPreview',
      'instanceReplicaScalingPreview',
      'scalingScheduleGet',
      'scalingScheduleUpsert',
      'scalingScheduleDelete',
      'instanceAutoscalingGet',
      'instanceAutoscalingDecisionGetList',
      'instanceAutoscalingHistoryGet',
      'instanceAutoscalingUpdate',
    ],
  ),
  'control-plane:service:view-backups': service('read', 'View backups and their configuration', [
    'backupConfigurationGet',
    'backupGetList',
    'backupGet',
  ]),
  'control-plane:service:manage-backups': service('write', 'Make and verify backups; change their configuration', [
    'backupConfigurationUpdate',
    'backupCreate',
    'backupVerify',
  ]),
  'control-plane:service:view-private-endpoints': service('read', 'View the private endpoint configuration', [
    'instancePrivateEndpointConfigGet',
  ]),
  'control-plane:service:view-query-api-endpoints': service('read', 'View the query endpoint', [
    'instanceQueryEndpointGet',
  ]),
  'control-plane:service:manage-query-api-endpoints': service(
    'write',
    'Change the query endpoint, with the SQL permissions that it gives to keys',
    ['instanceQueryEndpointUpsert', 'instanceQueryEndpointDelete'],
  ),
  'sql:read': service(
    'read',
    'Run SQL that only reads; save queries, and view the statements of the same member or key',
    [
      'sqlRead',
      'sqlCancel',
      'sqlHistoryGetList',
      'savedQueryList',
      'savedQueryGet',
      'savedQueryCreate',
      'savedQueryUpdate',
      'savedQueryDelete',
    ],
  ),
  'sql:write': service('write', 'Run any SQL that the password of the service allows', ['sqlWrite', 'sqlCancel']),
  'control-plane:service:manage-clickstack-api': organization(
    'write',
    'View and change dashboards, sources, saved searches, alerts and webhooks over the management API',
    [...CLICKSTACK_READS, ...CLICKSTACK_WRITES],
  ),
  'dashboards:view': organization(
    'read',
    'View dashboards, sources, charts, received telemetry and its retention, alerts, webhooks and notifications; search rows and traces',
    DASHBOARD_READS,
  ),
  'dashboards:manage': organization(
    'write',
    'Create, change and delete dashboards, annotations, sources, saved searches; change the retention, the limits and the rules of telemetry; with dashboards:view, also links, alerts and webhooks',
    DASHBOARD_WRITES,
  ),
};

/** Permissions of the public service without an operation here. A role that names one is rejected. */
const UNSUPPORTED_PERMISSIONS: readonly string[] = [
  'control-plane:service:manage-ip-access-list',
  'control-plane:service:manage-generative-ai',
  'control-plane:service:manage-private-endpoints',
  'control-plane:service:manage-clickpipes',
  'control-plane:support:manage',
  'sql-console:database:access',
];

/** Of requests for operations that the public interface has and Pilothouse has not: every key gets the same response. */
export const UNSUPPORTED_OPERATION = 'unsupportedOperation';

/** Every active key may call them; a query endpoint names its keys itself. */
export const UNRESTRICTED_OPERATIONS: readonly string[] = ['whoamiGet', 'queryEndpointRun'];

/** At least one admin key of an organization keeps all of them: otherwise its keys and roles could never be changed again. */
export const ACCESS_OPERATIONS: readonly string[] = [
  'openapiKeyGetList',
  'openapiKeyGet',
  'openapiKeyCreate',
  'openapiKeyUpdate',
  'openapiKeyRotate',
  'openapiKeyDelete',
  'organizationRolesGetList',
  'organizationRoleGet',
  'organizationRolePost',
  'organizationRolePatch',
  'organizationRoleDelete',
];

export const PERMISSION_NAMES: readonly string[] = Object.keys(PERMISSIONS);

interface Operation {
  scope: PermissionScope;
  access: Permission['access'];
}

/** Every operation that roles control, with its scope. */
export const OPERATIONS: ReadonlyMap<string, Operation> = collectOperations();

function collectOperations(): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const { scope, access, operations: names } of Object.values(PERMISSIONS))
    for (const name of names) if (operations.get(name)?.access !== 'read') operations.set(name, { scope, access });
  return operations;
}

/** A permission by its name; the id of an operation is a permission for that operation alone. */
export function findPermission(name: string): Permission | undefined {
  if (Object.hasOwn(PERMISSIONS, name)) return PERMISSIONS[name];
  const operation = OPERATIONS.get(name);
  return operation && { ...operation, help: '', operations: [name] };
}

export const isUnsupportedPermission = (name: string): boolean => UNSUPPORTED_PERMISSIONS.includes(name);
