import { randomUUID } from 'node:crypto';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { formatPath, type Operation } from '../support/operations.ts';
import { SYSTEM_ROLES } from '../support/roles.ts';

/** What exists, and what a credential could try to get. */
export interface World {
  /** The service that the permission is for. The others are out of reach. */
  serviceId: string;
  otherServiceId: string;
  /** Of the other service. */
  backupId: string;
  adminKeyId: string;
  developerKeyId: string;
  /** An administrator. */
  memberId: string;
  memberEmail: string;
  /** A role with all permissions, which no key has. */
  powerfulRoleId: string;
  /** A role that denies something to an administrator. */
  denyingRoleId: string;
  dashboardTokenId: string;
  webhookId: string;
  budgetId: string;
  alertId: string;
  savedSearchId: string;
}

/** What the credential of an attempt has, and what was created before. */
export interface Own {
  keyId: string;
  roleId: string;
  /** Roles that were created on the way. */
  roleIds: readonly string[];
}

type Bodies = (world: World, own: Own) => object[];

const ORGANIZATION = `organization/${acme.id}`;
const policy = (permissions: string[], resources = [ORGANIZATION]) => ({
  allowDeny: 'ALLOW',
  permissions,
  resources,
});
const SERVICE = { provider: 'aws', region: 'eu-central-1' };
const RECEIVER = 'https://receiver.example/hook';

const listRoles = ({ powerfulRoleId }: World, { roleId, roleIds }: Own): string[] => [
  SYSTEM_ROLES.admin,
  SYSTEM_ROLES.developer,
  powerfulRoleId,
  roleId,
  ...roleIds,
];

const saveAlert: Bodies = ({ savedSearchId, webhookId }) => [
  {
    name: 'mine',
    source: 'saved_search',
    savedSearchId,
    channel: { type: 'webhook', webhookId },
    interval: '1m',
    threshold: 0,
    thresholdType: 'above',
  },
];
const saveWebhook: Bodies = () => [{ name: randomUUID(), service: 'generic', url: RECEIVER }];
const saveBudget: Bodies = ({ webhookId }) => [
  { monthlyCHC: 1, webhook: { url: RECEIVER } },
  { monthlyCHC: 1, channels: [{ type: 'webhook', webhookId }] },
];

/** Bodies that try to get more, by operation. All other operations get `{}` once. */
export const BODIES: Readonly<Record<string, Bodies>> = {
  openapiKeyCreate: (world, own) => [
    { roles: ['admin'] },
    { roles: ['developer'] },
    { roles: ['query_endpoints'] },
    {},
    ...listRoles(world, own).map((roleId) => ({ assignedRoleIds: [roleId] })),
    { assignedRoleIds: [own.roleId, SYSTEM_ROLES.admin] },
  ],
  openapiKeyUpdate: (world, own) => [
    { roles: ['admin'] },
    { state: 'enabled' },
    ...listRoles(world, own).map((roleId) => ({ assignedRoleIds: [roleId, own.roleId] })),
  ],
  openapiKeyRotate: () => [{ gracePeriodHours: 24 }],
  organizationRolePost: ({ otherServiceId }, { keyId }) => [
    { name: randomUUID(), policies: [policy(['control-plane:organization:create-api-keys'])] },
    { name: randomUUID(), policies: [policy(['sql:write'], [`instance/${otherServiceId}`])] },
    { name: randomUUID(), policies: [policy(['sql:write', 'control-plane:service:view'], ['instance/*'])] },
    { name: randomUUID(), policies: [], actors: [`apiKey/${keyId}`] },
  ],
  organizationRolePatch: ({ otherServiceId, developerKeyId }, { keyId }) => [
    { actors: [`apiKey/${keyId}`] },
    { actors: [`apiKey/${keyId}`], removeOtherActors: true },
    { actors: [`apiKey/${keyId}`, `apiKey/${developerKeyId}`], removeOtherActors: false },
    { policies: [] },
    { policies: [policy(['control-plane:service:view', 'sql:write'], [`instance/${otherServiceId}`])] },
    { policies: [policy(['control-plane:organization:manage-members', 'control-plane:organization:create-api-keys'])] },
  ],
  memberUpdate: (world, own) => [
    { role: 'admin' },
    { role: 'developer' },
    ...listRoles(world, own).map((roleId) => ({ assignedRoleIds: [roleId] })),
  ],
  invitationCreate: (world, own) => [
    { email: `${randomUUID()}@acme.example`, role: 'admin' },
    { email: world.memberEmail, role: 'admin' },
    ...listRoles(world, own).flatMap((roleId) => [
      { email: `${randomUUID()}@acme.example`, assignedRoleIds: [roleId] },
      { email: world.memberEmail.toUpperCase(), assignedRoleIds: [roleId] },
    ]),
  ],
  instanceQueryEndpointUpsert: (_, { keyId }) =>
    ['sql_console_admin', 'sql_console_read_only'].map((role) => ({
      roles: [role],
      openApiKeys: [keyId],
      allowedOrigins: '*',
    })),
  dashboardTokenCreate: () => ['read', 'write', 'ingest'].map((access) => ({ name: 'mine', access })),
  dashboardTokenUpdate: () => [{ access: 'write' }, { expireAt: null }],
  instancePasswordUpdate: () => [{}],
  instanceCreate: ({ backupId }) => [
    { ...SERVICE, name: 'copy', backupId },
    { ...SERVICE, name: 'joined', driver: 'simulated', dataWarehouseId: acme.warehouse },
    { ...SERVICE, name: 'own', driver: 'simulated' },
  ],
  instanceCreatePreview: ({ backupId }) => [{ ...SERVICE, name: 'copy', backupId }],
  createDashboardLink: () => [{ expireInHours: 1 }],
  rotateWebhookSecret: () => [{}],
  createAlert: saveAlert,
  updateAlert: saveAlert,
  clickStackCreateAlert: saveAlert,
  clickStackUpdateAlert: saveAlert,
  createWebhook: saveWebhook,
  updateWebhook: saveWebhook,
  clickStackCreateWebhook: saveWebhook,
  clickStackUpdateWebhook: saveWebhook,
  sendNotificationAgain: () => [{}],
  budgetCreate: saveBudget,
  budgetUpdate: saveBudget,
};

/** The values of path parameters that an attempt tries: what exists and belongs to others, and what is its own. */
function listPaths({ path, method, parameters }: Operation, world: World, own: Own): Record<string, string>[] {
  const shared = {
    organizationId: acme.id,
    userId: world.memberId,
    budgetId: world.budgetId,
    tokenId: world.dashboardTokenId,
    clickStackWebhookId: world.webhookId,
    clickStackAlertId: world.alertId,
    clickStackSavedSearchId: world.savedSearchId,
    clickStackDashboardId: acme.dashboard,
    clickStackSourceId: acme.dashboard,
    backupId: world.backupId,
    tileId: 'one',
    version: '1',
    id: listIds(path, world),
  };
  const choices: Record<string, readonly string[]> = {
    serviceId: [world.serviceId, world.otherServiceId],
    keyId: [world.adminKeyId, world.developerKeyId, own.keyId],
    roleId: [SYSTEM_ROLES.admin, world.powerfulRoleId, world.denyingRoleId, own.roleId, ...own.roleIds],
  };
  const missing = Object.fromEntries(parameters.map((name) => [name, randomUUID()]));
  const [name] = parameters.filter((parameter) => choices[parameter]);
  // What is deleted is missing in the attempts that follow, so only what must not be deleted is named.
  const given =
    method === 'DELETE' ? { ...missing, organizationId: acme.id, userId: world.memberId } : { ...missing, ...shared };
  return name === undefined ? [given] : (choices[name] ?? []).map((value) => ({ ...given, [name]: value }));
}

/** The requests that try to get more with an operation. */
export function listAttempts(operation: Operation, world: World, own: Own): { path: string; body?: object }[] {
  const { id, method } = operation;
  const bodies = BODIES[id]?.(world, own) ?? [{}];
  return listPaths(operation, world, own).flatMap((values) => {
    const path = formatPath(operation, values);
    if (method === 'GET' || method === 'DELETE') return [{ path }];
    // Without policies, the own role would permit no further attempt.
    const isOwnRole = values.roleId === own.roleId;
    return bodies.filter((body) => !isOwnRole || !endsAttempts(body)).map((body) => ({ path, body }));
  });
}

const endsAttempts = (body: object): boolean => 'policies' in body && String(body.policies) === '';

function listIds(path: string, { webhookId, alertId, savedSearchId }: World): string {
  if (path.includes('/webhooks')) return webhookId;
  if (path.includes('/alerts')) return alertId;
  return path.includes('/saved-searches') ? savedSearchId : acme.dashboard;
}

/** A credential that a response has. */
export interface Found {
  kind: 'key' | 'token' | 'invitation' | 'link' | 'password';
  text: string;
  keyId?: string;
  /** Of the record of a key. */
  id?: string;
}

/** Every secret in the response to an operation. */
export function findCredentials(operation: string, { result, data }: Json): Found[] {
  const { keyId, keySecret, token, password, path } = { ...result, ...data };
  const id = result?.key?.id;
  return [
    ...(keySecret === undefined ? [] : [{ kind: 'key' as const, text: String(keySecret), keyId: String(keyId), id }]),
    ...(typeof token === 'string' ? [{ kind: 'token' as const, text: token }] : []),
    ...(typeof password === 'string' && operation !== 'instanceCreate'
      ? [{ kind: 'password' as const, text: password }]
      : []),
    ...(typeof path === 'string' && path.includes('#')
      ? [
          {
            kind: operation === 'invitationCreate' ? ('invitation' as const) : ('link' as const),
            text: path.split('#')[1] ?? '',
          },
        ]
      : []),
  ];
}
