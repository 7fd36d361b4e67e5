import type { Activity, ActivityType } from './activity.ts';

/**
 * The types that the public interface does not have, and the nearest one that it has: some of its clients have a closed
 * list. Types without a similar one keep their own name, which its official clients read: a statement that was run is no
 * change of the configuration, and a monitor must not take it for one.
 */
const PUBLIC_TYPES = {
  audit_retention: 'organization_update_name',
  organization_update_member_rules: 'organization_update_name',
  organization_update_sql_literals: 'organization_update_name',
  service_update: 'service_update_name',
  service_state_change: 'service_update_name',
  service_drift: 'service_update_name',
  service_resize: 'service_update_autoscaling_memory',
  service_update_tags: 'service_update_name',
  service_update_autoscaling_mode: 'service_update_autoscaling_memory',
  backup_create: 'service_update_backup_configuration',
  backup_verify: 'service_update_backup_configuration',
  usage_cost_import: 'organization_update_spend_alert',
  budget_create: 'organization_update_spend_alert',
  budget_update: 'organization_update_spend_alert',
  budget_delete: 'organization_update_spend_alert',
  budget_threshold: 'organization_update_spend_alert',
  usage_day_lock: 'organization_update_spend_alert',
  usage_engine_adopt: 'organization_update_spend_alert',
  usage_clock_confirm: 'organization_update_spend_alert',
  price_book_create: 'organization_update_spend_alert',
  telemetry_retention_update: 'organization_update_name',
  telemetry_limits_update: 'organization_update_name',
  telemetry_rules_update: 'organization_update_name',
  dashboard_token_create: 'key_create',
  dashboard_token_update: 'openapi_key_update',
  dashboard_token_delete: 'key_delete',
  console_sign_in: 'user_login',
  console_sign_out: 'user_logout',
  console_sessions_end: 'user_logout',
  console_sign_in_failed: 'user_login_failed',
} as const satisfies Partial<Record<ActivityType, string>>;

type MappedType = keyof typeof PUBLIC_TYPES;
type PublicType = Exclude<ActivityType, MappedType> | (typeof PUBLIC_TYPES)[MappedType];

export const toPublicType = (type: ActivityType): PublicType =>
  type in PUBLIC_TYPES ? PUBLIC_TYPES[type as MappedType] : (type as Exclude<ActivityType, MappedType>);

export const listPublicTypes = (types: readonly ActivityType[]): PublicType[] => [...new Set(types.map(toPublicType))];

/** The kinds of change of a key in the public interface, by the field that changed. */
const KEY_UPDATES = {
  name: 'name-changed',
  customRoleIds: 'roles-v2-changed',
  roles: 'role-changed',
  state: 'state-changed',
  ipAccessList: 'ip-access-list-changed',
  expireAt: 'date-changed',
} as const;

export const KEY_UPDATE_TYPES = ['created', 'deleted', ...Object.values(KEY_UPDATES)] as const;
type KeyUpdateType = (typeof KEY_UPDATE_TYPES)[number];

/** The first of the changed fields decides. Undefined for activities of other resources. */
export function findKeyUpdateType({ type, before, after }: Activity): KeyUpdateType | undefined {
  if (type === 'key_create') return 'created';
  if (type === 'key_delete') return 'deleted';
  if (type !== 'openapi_key_update') return undefined;
  const changed = { ...before, ...after };
  const field = (Object.keys(KEY_UPDATES) as (keyof typeof KEY_UPDATES)[]).find((name) => name in changed);
  return field && KEY_UPDATES[field];
}
