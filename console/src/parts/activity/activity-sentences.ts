import type { Activity } from '../../api/types.ts';
import { formatBillDate, formatTime, plural } from '../format/format.ts';
import { ACCESS_SENTENCES } from './access-sentences.ts';
import { PEOPLE_SENTENCES } from './people-sentences.ts';
import { type ActivitySentence, about, type Describe, type Fields } from './sentence.ts';

/** "from 3 to 5" if the field changed. */
function formatChange({ before, after }: { before: Fields; after: Fields }, field: string, unit = ''): string {
  const [old, next] = [before[field], after[field]];
  return old === undefined || next === undefined ? '' : `from ${String(old)} to ${String(next)}${unit}`;
}

const changedFields = ({ before, after }: { before: Fields; after: Fields }): string[] => [
  ...new Set([...Object.keys(before), ...Object.keys(after)]),
];

/** A fleet file may declare a service that was created before it was added here. */
const describeCreation: Describe = ({ after, createdAt = '' }, name) => {
  const [declared, added] = [String(after.createdAt ?? createdAt), createdAt].map((time) => time.slice(0, 10));
  if (declared === undefined || added === undefined || declared >= added)
    return { action: 'created the service', resource: name };
  return { action: 'added the service', resource: name, rest: `(created ${formatBillDate(declared)}, as declared)` };
};

const KEY_ACTIONS: Record<string, string> = {
  name: 'renamed the key',
  roles: 'changed the roles of the key',
  customRoleIds: 'changed the roles of the key',
  expireAt: 'changed the expiry of the key',
  ipAccessList: 'changed the IP access list of the key',
};

const describeKeyUpdate: Describe = (activity, name) => {
  const { after } = activity;
  if (after.replacedBy !== undefined) return { action: 'rotated the key', resource: name };
  const [field = '', ...others] = changedFields(activity);
  if (field === 'state' && others.length === 0)
    return { action: after.state === 'disabled' ? 'disabled the key' : 'enabled the key', resource: name };
  if (others.length > 0) return { action: 'updated the key', resource: name };
  return { action: KEY_ACTIONS[field] ?? 'updated the key', resource: name, rest: formatRename(activity) };
};

/** "(before: old name)". */
const formatRename = ({ before, after }: { before: Fields; after: Fields }): string =>
  before.name === undefined || after.name === undefined ? '' : `(before: ${String(before.name)})`;

const SCALING_CHANGES: [field: string, label: string, unit: string][] = [
  ['minReplicaMemoryGb', 'minimum', ' GB'],
  ['maxReplicaMemoryGb', 'maximum', ' GB'],
  ['numReplicas', 'replicas', ''],
  ['maxReplicas', 'maximum number of replicas', ''],
  ['idleTimeoutMinutes', 'idle timeout', ' min'],
];

/** All scaling settings that changed: "(minimum from 16 to 24 GB, replicas from 3 to 5)". */
function formatScaling(activity: { before: Fields; after: Fields }): string {
  const parts = SCALING_CHANGES.map(([field, label, unit]) => {
    const change = formatChange(activity, field, unit);
    return change === '' ? '' : `${label} ${change}`;
  });
  const { idleScaling } = activity.after;
  if (idleScaling !== undefined) parts.push(`scaling to zero ${idleScaling ? 'on' : 'off'}`);
  const found = parts.filter((part) => part !== '');
  return found.length === 0 ? '' : `(${found.join(', ')})`;
}

const describeScaling =
  (action: string): Describe =>
  (activity, name) => ({ action, resource: name, rest: formatScaling(activity) });

/** "(No queries for 15 minutes)". */
const formatReason = ({ reason }: Fields): string => (typeof reason === 'string' ? `(${reason})` : '');

/** "(SELECT from 10.0.0.7)": the query that woke the service; empty for a command. */
function formatWake({ statement, address }: Fields): string {
  const from = typeof address === 'string' ? `from ${address}` : '';
  const text = [typeof statement === 'string' ? statement : '', from].filter((part) => part !== '').join(' ');
  return text === '' ? '' : `(${text})`;
}

const describeStateChange: Describe = ({ before, after }, name) => ({
  action: 'reported the service',
  resource: name,
  rest: [
    typeof after.state === 'string' ? `as ${after.state}` : '',
    typeof before.state === 'string' ? `(before: ${before.state})` : '',
    formatReason(after),
  ]
    .filter((part) => part !== '')
    .join(' '),
});

/** "2 × 16 GB". */
const formatReplicas = ({ replicas, memoryGb }: Fields): string =>
  replicas === undefined || memoryGb === undefined ? '' : `${String(replicas)} × ${String(memoryGb)} GB`;

const describeResize: Describe = ({ before, after }, name) => {
  const [old, next] = [formatReplicas(before), formatReplicas(after)];
  const change = next === '' ? '' : `${old === '' ? '' : `from ${old} `}to ${next}`;
  const rest = [change, formatReason(after)].filter((part) => part !== '').join(' ');
  return { action: 'resized the service', resource: name, rest };
};

const describeImport: Describe = ({ after }) => ({
  action: `imported usage costs: ${['added', 'changed', 'removed']
    .map((kind) => `${String(after[kind] ?? 0)} ${kind}`)
    .join(', ')}`,
});

const describeThreshold: Describe = ({ after }, name) =>
  after.threshold === 'forecast'
    ? { action: 'raised an alert: the forecast for the month reached the budget', resource: name }
    : { action: `raised an alert: costs reached ${String(after.threshold)}% of the budget`, resource: name };

const describeLock: Describe = ({ after }, name) => ({
  action: `locked ${typeof after.days === 'number' ? plural(after.days, 'usage day') : 'usage days'} through`,
  resource: formatDay(typeof after.lockedThrough === 'string' ? after.lockedThrough : name),
});

const formatDay = (text: string): string => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? formatBillDate(text) : text);

const describePriceBook: Describe = ({ after }, name) => ({
  action: 'created the price book version',
  resource: name,
  rest: typeof after.effectiveFrom === 'string' ? `effective from ${formatDay(after.effectiveFrom)}` : '',
});

/** A silence without an end was ended. */
const describeSilence: Describe = ({ after: { until, reason } }, name) =>
  until === null
    ? { action: 'ended the silence of the alert', resource: name }
    : { action: 'silenced the alert', resource: name, rest: formatSilence(until, reason) };

/** "until Nov 18, 2026, 5:22 AM (maintenance)". */
const formatSilence = (until: unknown, reason: unknown): string =>
  [typeof until === 'string' ? `until ${formatTime(new Date(until))}` : '', formatReason({ reason })]
    .filter((part) => part !== '')
    .join(' ');

/** One entry for each activity type of the server; a test compares the two lists. */
export const SENTENCES: Readonly<Record<string, Describe>> = {
  create_organization: about('created the organization'),
  delete_organization: about('deleted the organization'),
  organization_update_name: (activity, name) => ({
    action: 'renamed the organization',
    resource: name,
    rest: formatRename(activity),
  }),
  organization_update_tier: (activity, name) => ({
    action: 'changed the tier of the organization',
    resource: name,
    rest: formatChange(activity, 'tier'),
  }),
  ...PEOPLE_SENTENCES,
  key_create: ({ after }, name) => ({
    action: 'created the key',
    resource: name,
    rest: after.replaces === undefined ? '' : 'to replace an older key',
  }),
  key_delete: about('deleted the key'),
  openapi_key_update: describeKeyUpdate,
  role_create: about('created the role'),
  role_update: (activity, name) => ({ action: 'changed the role', resource: name, rest: formatRename(activity) }),
  role_delete: about('deleted the role'),
  service_create: describeCreation,
  service_delete: about('deleted the service'),
  service_start: about('started the service'),
  service_stop: about('stopped the service'),
  service_awaken: ({ after }, name) => ({ action: 'woke the service', resource: name, rest: formatWake(after) }),
  service_idle: ({ after }, name) => ({ action: 'idled the service', resource: name, rest: formatReason(after) }),
  service_state_change: describeStateChange,
  service_drift: ({ after }, name) => ({
    action: 'detected a change outside Pilothouse to the service',
    resource: name,
    rest: typeof after.text === 'string' ? `(${after.text})` : '',
  }),
  service_resize: describeResize,
  service_sql: ({ after }, name) => ({
    action:
      after.access === 'write' ? 'executed a statement as admin on the service' : 'executed a statement on the service',
    resource: name,
    rest: typeof after.statement === 'string' ? `(${after.statement})` : '',
  }),
  ...ACCESS_SENTENCES,
  service_update: about('updated the service'),
  service_update_name: (activity, name) => ({
    action: 'renamed the service',
    resource: name,
    rest: formatRename(activity),
  }),
  service_update_ip_access_list: about('changed the IP access list of the service'),
  service_update_tags: about('changed the tags of the service'),
  service_update_password: about('changed the password of the service'),
  service_update_backup_configuration: about('changed the backups of the service'),
  service_restore_backup: about('restored a backup into the service'),
  backup_create: about('requested a backup of the service'),
  backup_verify: about('requested the verification of a backup of the service'),
  backup_delete: about('deleted an expired backup of the service'),
  service_update_query_endpoints: about('changed the query endpoint of the service'),
  service_update_autoscaling_schedule: about('changed the scaling schedule of the service'),
  service_update_autoscaling_mode: about('changed what the autoscaler does with the service'),
  service_update_autoscaling_memory: describeScaling('changed the memory per replica of the service'),
  service_update_autoscaling_replicas: describeScaling('changed the number of replicas of the service'),
  service_update_autoscaling_idling: describeScaling('changed the idling of the service'),
  audit_retention: ({ after }) => ({
    action: `removed ${plural(Number(after.removed), 'old activity', 'old activities')} from the audit log`,
  }),
  usage_cost_import: describeImport,
  budget_create: about('created the budget'),
  budget_update: about('updated the budget'),
  budget_delete: about('deleted the budget'),
  budget_threshold: describeThreshold,
  usage_day_lock: describeLock,
  usage_engine_adopt: about('continued metering with the engine'),
  usage_clock_confirm: about('confirmed the clock at'),
  price_book_create: describePriceBook,
  telemetry_retention_update: about('changed the retention of telemetry of'),
  telemetry_limits_update: about('changed the limits of telemetry of'),
  telemetry_rules_update: about('changed the rules for received telemetry of'),
  dashboard_token_create: about('created the dashboard token'),
  dashboard_token_update: about('updated the dashboard token'),
  dashboard_token_delete: about('deleted the dashboard token'),
  dashboard_create: about('created the dashboard'),
  dashboard_update: ({ after }, name) =>
    after.provisionedFrom === null
      ? { action: 'made the dashboard', resource: name, rest: 'editable' }
      : { action: 'updated the dashboard', resource: name },
  dashboard_delete: about('deleted the dashboard'),
  dashboard_link_create: about('created the link to a dashboard'),
  dashboard_link_delete: about('revoked the link to a dashboard'),
  annotation_create: about('created the annotation'),
  annotation_delete: about('deleted the annotation'),
  dashboard_source_create: about('created the source'),
  dashboard_source_update: about('updated the source'),
  dashboard_source_delete: about('deleted the source'),
  saved_query_create: about('saved the query'),
  saved_query_update: about('updated the saved query'),
  saved_query_delete: about('deleted the saved query'),
  saved_search_create: about('created the saved search'),
  saved_search_update: about('updated the saved search'),
  saved_search_delete: about('deleted the saved search'),
  alert_create: about('created the alert'),
  alert_update: about('updated the alert'),
  alert_delete: about('deleted the alert'),
  alert_silence: describeSilence,
  alert_acknowledge: about('acknowledged the alert'),
  channel_create: about('created the channel'),
  channel_update: about('updated the channel'),
  channel_delete: about('deleted the channel'),
  channel_test: ({ after }, name) => ({
    action: 'tested the channel',
    resource: name,
    rest: typeof after.error === 'string' ? `(${after.error})` : '',
  }),
  notification_send_again: about('retried the notification'),
};

/** Types newer than this console are described by their name. */
export function describeActivity(activity: Activity, names: ReadonlyMap<string, string>): ActivitySentence {
  const { activityType, before = {}, after = {} } = activity;
  const name = formatResourceName(activity, names);
  const describe = SENTENCES[activityType] ?? about(activityType.replaceAll('_', ' '));
  return describe({ before: before as Fields, after: after as Fields, createdAt: activity.createdAt }, name, names);
}

/** The recorded name, else the current name, else the ID. */
function formatResourceName(
  { before, after, resourceId, resourceType }: Activity,
  names: ReadonlyMap<string, string>,
): string {
  const name = findRecordedName({ before, after }) ?? names.get(resourceId);
  if (name !== undefined) return name;
  return NAMED_BY_ID.includes(resourceType) ? resourceId : `${resourceId.slice(0, 8)}…`;
}

/** Resources whose ID is all there is to tell. */
const NAMED_BY_ID = ['usage_day', 'usage_engine', 'usage_clock', 'price_book'];

/** The name of the resource in the activity itself; only creations, deletions and renames have it. */
export function findRecordedName({ before, after }: Pick<Activity, 'before' | 'after'>): string | undefined {
  const names = [after, before].map((fields) => (fields as Fields | undefined)?.name);
  return names.find((name) => typeof name === 'string');
}
