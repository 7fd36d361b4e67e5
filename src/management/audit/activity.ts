import { isDeepStrictEqual } from 'node:util';
export const ACTOR_TYPES = ['user', 'api', 'system'] as const;

/** The author of a change: a person in the console (`user`), a key or token (`api`), or the CLI, a fleet file or the server (`system`). */
export interface Actor {
  type: (typeof ACTOR_TYPES)[number];
  id: string;
  details: string;
  address?: string;
  userAgent?: string;
  requestId?: string;
}

/**
 * All activity types and the type of resource that each one changes. Types that the public service also has use its
 * names, so that its clients can read the audit log.
 */
const RESOURCE_TYPES = {
  create_organization: 'organization',
  delete_organization: 'organization',
  organization_update_name: 'organization',
  organization_update_tier: 'organization',
  audit_retention: 'organization',
  organization_update_member_rules: 'organization',
  organization_update_sql_literals: 'organization',
  organization_invite_create: 'invitation',
  organization_invite_delete: 'invitation',
  organization_member_join: 'member',
  organization_member_add: 'member',
  organization_member_leave: 'member',
  organization_member_delete: 'member',
  organization_member_update_roles: 'member',
  key_create: 'key',
  key_delete: 'key',
  openapi_key_update: 'key',
  role_create: 'role',
  role_update: 'role',
  role_delete: 'role',
  service_create: 'service',
  service_delete: 'service',
  service_start: 'service',
  service_stop: 'service',
  service_awaken: 'service',
  service_idle: 'service',
  service_state_change: 'service',
  service_drift: 'service',
  service_resize: 'service',
  service_sql: 'service',
  service_update: 'service',
  service_update_name: 'service',
  service_update_ip_access_list: 'service',
  service_update_tags: 'service',
  service_update_password: 'service',
  service_update_backup_configuration: 'service',
  service_restore_backup: 'service',
  backup_create: 'backup',
  backup_verify: 'backup',
  backup_delete: 'backup',
  service_update_query_endpoints: 'service',
  service_update_autoscaling_schedule: 'service',
  service_update_autoscaling_mode: 'service',
  service_update_autoscaling_memory: 'service',
  service_update_autoscaling_replicas: 'service',
  service_update_autoscaling_idling: 'service',
  saved_query_create: 'saved_query',
  saved_query_update: 'saved_query',
  saved_query_delete: 'saved_query',
  usage_cost_import: 'cost',
  budget_create: 'budget',
  budget_update: 'budget',
  budget_delete: 'budget',
  budget_threshold: 'budget',
  usage_day_lock: 'usage_day',
  usage_engine_adopt: 'usage_engine',
  usage_clock_confirm: 'usage_clock',
  price_book_create: 'price_book',
  telemetry_retention_update: 'organization',
  telemetry_limits_update: 'organization',
  telemetry_rules_update: 'organization',
  dashboard_token_create: 'token',
  dashboard_token_update: 'token',
  dashboard_token_delete: 'token',
  dashboard_create: 'dashboard',
  dashboard_update: 'dashboard',
  dashboard_delete: 'dashboard',
  dashboard_link_create: 'dashboard_link',
  dashboard_link_delete: 'dashboard_link',
  annotation_create: 'annotation',
  annotation_delete: 'annotation',
  dashboard_source_create: 'source',
  dashboard_source_update: 'source',
  dashboard_source_delete: 'source',
  saved_search_create: 'saved_search',
  saved_search_update: 'saved_search',
  saved_search_delete: 'saved_search',
  alert_create: 'alert',
  alert_update: 'alert',
  alert_delete: 'alert',
  alert_silence: 'alert',
  alert_acknowledge: 'alert',
  channel_create: 'channel',
  channel_update: 'channel',
  channel_delete: 'channel',
  channel_test: 'channel',
  notification_send_again: 'notification',
  data_export: 'export',
  calls_refused: 'credential',
  dashboard_link_view: 'dashboard_link',
  console_sign_in: 'session',
  console_sign_out: 'session',
  console_sessions_end: 'session',
  console_sign_in_failed: 'session',
} as const;

export type ActivityType = keyof typeof RESOURCE_TYPES;
type ResourceType = (typeof RESOURCE_TYPES)[ActivityType];
export const ACTIVITY_TYPES = Object.keys(RESOURCE_TYPES) as ActivityType[];

export const listActivityTypes = (resourceType: string): ActivityType[] =>
  ACTIVITY_TYPES.filter((type) => RESOURCE_TYPES[type] === resourceType);

/** `before` and `after` contain the fields that changed, and never a secret or its hash. */
export interface Change {
  organizationId: string;
  type: ActivityType;
  resource: { type: ResourceType; id: string };
  serviceId?: string;
  before?: object | undefined;
  after?: object | undefined;
}

export interface Activity extends Change {
  id: string;
  createdAt: number;
  actor: Actor;
}

/** The order of members is not a change: clients return them in another order than they sent them. */
function isSameJson(one: unknown, other: unknown): boolean {
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
  if (a === b) return true;
  const isNested = typeof one === 'object' && typeof other === 'object' && a !== undefined && b !== undefined;
  return isNested && isDeepStrictEqual(JSON.parse(a), JSON.parse(b));
}

/** The fields that differ, with both values. */
export function difference<T extends object>(before: T, after: T): { before: Partial<T>; after: Partial<T> } {
  const changed: { before: Partial<T>; after: Partial<T> } = { before: {}, after: {} };
  for (const name of Object.keys({ ...before, ...after }) as (keyof T)[]) {
    if (before[name] === after[name] || isSameJson(before[name], after[name])) continue;
    if (before[name] !== undefined) changed.before[name] = before[name];
    if (after[name] !== undefined) changed.after[name] = after[name];
  }
  return changed;
}
