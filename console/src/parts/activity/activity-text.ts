import type { Activity } from '../../api/types.ts';
import { formatTime, toWords } from '../format/format.ts';

interface FieldChange {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

/** All fields of `before` and `after`, in the order of `after`. */
export function listChanges({ before = {}, after = {} }: Activity, names: ReadonlyMap<string, string>): FieldChange[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return fields.map((field) => ({
    field,
    before: formatChangeValue(field, before[field], names),
    after: formatChangeValue(field, after[field], names),
  }));
}

/** Fields that contain IDs of other resources. */
const REFERENCES = ['replaces', 'replacedBy', 'roles', 'customRoleIds'];

/** Fields that contain a time in epoch milliseconds. */
const TIMES = ['at', 'since'];

function formatChangeValue(field: string, value: unknown, names: ReadonlyMap<string, string>): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return field === 'expireAt' ? 'Never' : 'None';
  if (typeof value === 'boolean') return value ? 'On' : 'Off';
  if (Array.isArray(value) && value.length === 0) return '(empty)';
  if (Array.isArray(value)) return value.map((item) => formatChangeValue(field, toAddress(item), names)).join(', ');
  if (typeof value === 'number' && TIMES.includes(field)) return formatTime(new Date(value));
  if (typeof value !== 'string') return JSON.stringify(value);
  if (REFERENCES.includes(field)) return names.get(value) ?? value;
  return /At$/.test(field) && !Number.isNaN(Date.parse(value)) ? formatTime(new Date(value)) : value;
}

/** An entry of an IP access list is shown as its address. */
const toAddress = (item: unknown): unknown => (item as { source?: unknown } | null)?.source ?? item;

/** Label and unit of the fields whose name in words is not enough. */
const FIELDS: Record<string, [label: string, unit?: string]> = {
  numReplicas: ['Replicas'],
  minReplicaMemoryGb: ['Minimum memory per replica', 'GB'],
  maxReplicaMemoryGb: ['Maximum memory per replica', 'GB'],
  minTotalMemoryGb: ['Minimum total memory', 'GB'],
  maxTotalMemoryGb: ['Maximum total memory', 'GB'],
  memoryGb: ['Memory per replica', 'GB'],
  at: ['Time'],
  text: ['Difference'],
  idleScaling: ['Scale to zero when idle'],
  idleTimeoutMinutes: ['Idle timeout', 'min'],
  ipAccessList: ['IP access list'],
  createdAt: ['Created'],
  expireAt: ['Expires'],
  customRoleIds: ['Custom roles'],
  monthlyCHC: ['Monthly budget', 'CHC'],
  thresholds: ['Alert at'],
  spentCHC: ['Costs of the month so far', 'CHC'],
  expectedCHC: ['Forecast for the month', 'CHC'],
};

export const fieldLabel = (field: string): string => FIELDS[field]?.[0] ?? toWords(field);
export const fieldUnit = (field: string): string => (FIELDS[field]?.[1] ? ` ${FIELDS[field][1]}` : '');
