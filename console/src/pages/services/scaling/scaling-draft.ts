import type { ScalingChange, Service } from '../../../api/types.ts';
import { type FieldLimits, MIN_IDLE_MINUTES, type ScalingLimits } from './scaling-limits.ts';

/** The edited settings; an empty field is ''. */
export interface ScalingDraft {
  numReplicas: number | '';
  minReplicaMemoryGb: number | '';
  maxReplicaMemoryGb: number | '';
  idleScaling: boolean;
  idleTimeoutMinutes: number | '';
}

export type ScalingField = keyof ScalingDraft;
export const SCALING_FIELDS: ScalingField[] = [
  'numReplicas',
  'minReplicaMemoryGb',
  'maxReplicaMemoryGb',
  'idleScaling',
  'idleTimeoutMinutes',
];

export const toScalingDraft = (service: ScalingSettings): ScalingDraft => ({
  numReplicas: service.numReplicas,
  minReplicaMemoryGb: service.minReplicaMemoryGb,
  maxReplicaMemoryGb: service.maxReplicaMemoryGb,
  idleScaling: service.idleScaling,
  idleTimeoutMinutes: service.idleTimeoutMinutes,
});

/** The settings of a service, or the defaults of a new one. */
type ScalingSettings = Pick<Service, ScalingField>;

/** Only the changed fields, so that concurrent changes to other fields are kept. */
export function toScalingChange(service: ScalingSettings, draft: ScalingDraft): ScalingChange {
  const now = toScalingDraft(service);
  return Object.fromEntries(
    SCALING_FIELDS.filter((field) => draft[field] !== now[field] && draft[field] !== '').map((field) => [
      field,
      draft[field],
    ]),
  );
}

/** The current values of the fields that a change sets. */
export const pickPrevious = (service: Service, change: ScalingChange): ScalingChange =>
  Object.fromEntries(
    SCALING_FIELDS.filter((field) => change[field] !== undefined).map((field) => [field, service[field]]),
  );

/** The recorded values that differ from the current ones; empty if the activity recorded no scaling settings. */
export function toRevertChange(service: Service, before: Readonly<Record<string, unknown>> | undefined): ScalingChange {
  return Object.fromEntries(
    SCALING_FIELDS.filter((field) => before?.[field] !== undefined && before[field] !== service[field]).map((field) => [
      field,
      before?.[field],
    ]),
  );
}

type ScalingErrors = Partial<Record<ScalingField, string>>;

/** Errors of the changed fields. */
export function validateScaling(
  service: ScalingSettings,
  draft: ScalingDraft,
  { replicas, memory }: ScalingLimits,
): ScalingErrors {
  const errors: ScalingErrors = {};
  const current = toScalingDraft(service);
  const { numReplicas, minReplicaMemoryGb: min, maxReplicaMemoryGb: max, idleTimeoutMinutes } = draft;
  if (numReplicas !== current.numReplicas) errors.numReplicas = validateNumber(numReplicas, replicas, 'replicas');
  if (min !== current.minReplicaMemoryGb) errors.minReplicaMemoryGb = validateNumber(min, memory, 'GB');
  if (max !== current.maxReplicaMemoryGb) errors.maxReplicaMemoryGb = validateNumber(max, memory, 'GB');
  const isMemoryChanged = min !== current.minReplicaMemoryGb || max !== current.maxReplicaMemoryGb;
  const isMemoryValid = min !== '' && max !== '' && !errors.minReplicaMemoryGb && !errors.maxReplicaMemoryGb;
  if (isMemoryChanged && isMemoryValid && min > max)
    errors.minReplicaMemoryGb = `The minimum (${min} GB) must not exceed the maximum (${max} GB)`;
  if (idleTimeoutMinutes === '') errors.idleTimeoutMinutes = 'Enter a number of minutes';
  else if (idleTimeoutMinutes !== current.idleTimeoutMinutes && idleTimeoutMinutes < MIN_IDLE_MINUTES)
    errors.idleTimeoutMinutes = `Must be at least ${MIN_IDLE_MINUTES} minutes`;
  return Object.fromEntries(Object.entries(errors).filter(([, text]) => text !== undefined));
}

function validateNumber(value: number | '', { min, max, step }: FieldLimits, unit: string): string | undefined {
  if (value === '') return 'Enter a number';
  if (value < min || value > max) return `Must be between ${min} and ${max} ${unit}`;
  if (value % step === 0) return undefined;
  const below = Math.floor(value / step) * step;
  return `Must be a multiple of ${step}, such as ${below} or ${below + step} ${unit}`;
}
