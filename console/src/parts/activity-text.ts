import type { ActivityGetListInput } from '../api/generated.ts';
import type { Activity } from '../api/types.ts';

/** Used as "<actor> <action> <resource>": "demo admin created the key ci". */
const ACTIONS: Record<NonNullable<ActivityGetListInput['type']>, string> = {
  create_organization: 'created the organization',
  delete_organization: 'deleted the organization',
  organization_update_name: 'renamed the organization',
  organization_update_tier: 'changed the tier of the organization',
  key_create: 'created the key',
  key_delete: 'deleted the key',
  openapi_key_update: 'updated the key',
  service_create: 'created the service',
  service_delete: 'deleted the service',
  service_update: 'updated the service',
  service_update_autoscaling_memory: 'changed the memory of the service',
  service_update_autoscaling_replicas: 'changed the replicas of the service',
  service_update_autoscaling_idling: 'changed the idle scaling of the service',
  usage_cost_import: 'imported usage costs',
  budget_create: 'created the budget',
  budget_update: 'updated the budget',
  budget_delete: 'deleted the budget',
  budget_threshold: 'sent an alert for the budget',
  usage_day_lock: 'locked usage days through',
  usage_engine_adopt: 'continued metering with engine',
  usage_clock_confirm: 'confirmed the clock at',
  price_book_create: 'created price book version',
  dashboard_token_create: 'created the dashboard token',
  dashboard_token_update: 'updated the dashboard token',
  dashboard_token_delete: 'deleted the dashboard token',
  dashboard_create: 'created the dashboard',
  dashboard_update: 'updated the dashboard',
  dashboard_delete: 'deleted the dashboard',
  dashboard_source_create: 'created the source',
  dashboard_source_update: 'updated the source',
  dashboard_source_delete: 'deleted the source',
};

/** Falls back to the type for activities newer than this console. */
export const formatAction = ({ type }: Activity): string =>
  ACTIONS[type as keyof typeof ACTIONS] ?? type.replaceAll('_', ' ');

/** The recorded name, else the current name, else the start of the ID. */
export function formatResourceName(
  { before, after, resourceId, resourceType }: Activity,
  names: ReadonlyMap<string, string>,
): string {
  if (resourceType === 'cost') return '';
  for (const name of [after?.name, before?.name, names.get(resourceId)]) if (typeof name === 'string') return name;
  return resourceType === 'usage_day' ? resourceId : resourceId.slice(0, 8);
}

interface FieldChange {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

/** All fields of `before` and `after`, in the order of `after`. */
export function listChanges({ before = {}, after = {} }: Activity): FieldChange[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return fields.map((field) => ({
    field,
    before: formatChangeValue(before[field]),
    after: formatChangeValue(after[field]),
  }));
}

function formatChangeValue(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.length === 0) return '(empty)';
  if (Array.isArray(value)) return value.map((item) => formatChangeValue(toAddress(item))).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** An entry of an IP access list is shown as its address. */
const toAddress = (item: unknown): unknown => (item as { source?: unknown } | null)?.source ?? item;

/** Label and unit of each field. */
const FIELDS: Record<string, [label: string, unit?: string]> = {
  numReplicas: ['Replicas'],
  minReplicaMemoryGb: ['Minimum memory per replica', 'GB'],
  maxReplicaMemoryGb: ['Maximum memory per replica', 'GB'],
  minTotalMemoryGb: ['Minimum total memory', 'GB'],
  maxTotalMemoryGb: ['Maximum total memory', 'GB'],
  idleScaling: ['Scale to zero when idle'],
  idleTimeoutMinutes: ['Idle timeout', 'min'],
  ipAccessList: ['IP access list'],
  keySuffix: ['Key suffix'],
  expireAt: ['Expires'],
  state: ['State'],
  roles: ['Roles'],
  name: ['Name'],
};

export const fieldLabel = (field: string): string => FIELDS[field]?.[0] ?? field;
export const fieldUnit = (field: string): string => (FIELDS[field]?.[1] ? ` ${FIELDS[field][1]}` : '');
