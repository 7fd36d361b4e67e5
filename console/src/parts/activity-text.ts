import type { Activity } from '../api/types.ts';

/** Reads "<actor> <verb> <thing>": "demo admin created the key ci". */
const ACTIONS: Record<string, string> = {
  create_organization: 'created the organization',
  delete_organization: 'deleted the organization',
  organization_update_name: 'renamed the organization',
  organization_update_tier: 'changed the tier of the organization',
  key_create: 'created the key',
  key_delete: 'deleted the key',
  openapi_key_update: 'changed the key',
  service_create: 'created the service',
  service_delete: 'deleted the service',
  service_update: 'changed the service',
  service_update_autoscaling_memory: 'changed the size of the service',
  service_update_autoscaling_replicas: 'changed the replicas of the service',
  service_update_autoscaling_idling: 'changed the idling of the service',
  usage_cost_import: 'imported usage costs',
  budget_create: 'created the budget',
  budget_update: 'changed the budget',
  budget_delete: 'deleted the budget',
  dashboard_token_create: 'created the dashboard token',
  dashboard_token_update: 'changed the dashboard token',
  dashboard_token_delete: 'deleted the dashboard token',
  dashboard_create: 'created the dashboard',
  dashboard_update: 'changed the dashboard',
  dashboard_delete: 'deleted the dashboard',
  dashboard_source_create: 'created the source',
  dashboard_source_update: 'changed the source',
  dashboard_source_delete: 'deleted the source',
};

/** A type this console does not know yet still reads. */
export const formatAction = ({ type }: Activity): string => ACTIONS[type] ?? type.replaceAll('_', ' ');

/** The name that the trail itself knows, or the one that is current. */
export function formatResourceName(
  { before, after, resourceId, resourceType }: Activity,
  names: ReadonlyMap<string, string>,
): string {
  if (resourceType === 'cost') return '';
  for (const name of [after?.name, before?.name, names.get(resourceId)]) if (typeof name === 'string') return name;
  return resourceId.slice(0, 8);
}

export interface FieldChange {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

/** Every field that either side has, in the order of the later one. */
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
  if (Array.isArray(value)) return value.map((item) => formatChangeValue(toAddress(item))).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** An address list is read as its addresses. */
const toAddress = (item: unknown): unknown => (item as { source?: unknown } | null)?.source ?? item;

/** What a field is called, and the unit its values are in. */
const FIELDS: Record<string, [label: string, unit?: string]> = {
  numReplicas: ['Replicas'],
  minReplicaMemoryGb: ['Smallest replica', 'GB'],
  maxReplicaMemoryGb: ['Largest replica', 'GB'],
  minTotalMemoryGb: ['Smallest total', 'GB'],
  maxTotalMemoryGb: ['Largest total', 'GB'],
  idleScaling: ['Idles when unused'],
  idleTimeoutMinutes: ['Idles after', 'min'],
  ipAccessList: ['Addresses'],
  keySuffix: ['Ends in'],
  expireAt: ['Expires'],
  state: ['State'],
  roles: ['Roles'],
  name: ['Name'],
};

export const fieldLabel = (field: string): string => FIELDS[field]?.[0] ?? field;
export const fieldUnit = (field: string): string => (FIELDS[field]?.[1] ? ` ${FIELDS[field][1]}` : '');
