import type { ScalingChange, Service } from '../../api/types.ts';
import { type FieldLimits, MIN_IDLE_MINUTES, type ScalingLimits } from './scaling-limits.ts';

/** The edited settings; an empty field is ''. */
export interface ScalingDraft {
  numReplicas: number | '';
  minTotalMemoryGb: number | '';
  maxTotalMemoryGb: number | '';
  idleScaling: boolean;
  idleTimeoutMinutes: number | '';
}

export type ScalingField = keyof ScalingDraft;
export const SCALING_FIELDS: ScalingField[] = [
  'numReplicas',
  'minTotalMemoryGb',
  'maxTotalMemoryGb',
  'idleScaling',
  'idleTimeoutMinutes',
];

export const toScalingDraft = (service: Service): ScalingDraft => ({
  numReplicas: service.numReplicas,
  minTotalMemoryGb: service.minTotalMemoryGb,
  maxTotalMemoryGb: service.maxTotalMemoryGb,
  idleScaling: service.idleScaling,
  idleTimeoutMinutes: service.idleTimeoutMinutes,
});

/** Only the changed fields, so that concurrent changes to other fields are kept. */
export function toScalingChange(service: Service, draft: ScalingDraft): ScalingChange {
  const now = toScalingDraft(service);
  return Object.fromEntries(
    SCALING_FIELDS.filter((field) => draft[field] !== now[field] && draft[field] !== '').map((field) => [
      field,
      draft[field],
    ]),
  );
}

type ScalingErrors = Partial<Record<ScalingField, string>>;

/** Errors of the changed fields. */
export function validateScaling(
  service: Service,
  draft: ScalingDraft,
  { replicas, memory }: ScalingLimits,
): ScalingErrors {
  const errors: ScalingErrors = {};
  const current = toScalingDraft(service);
  const { numReplicas, minTotalMemoryGb: min, maxTotalMemoryGb: max, idleTimeoutMinutes } = draft;
  if (numReplicas !== current.numReplicas) errors.numReplicas = validateNumber(numReplicas, replicas, 'replicas');
  if (min !== current.minTotalMemoryGb) errors.minTotalMemoryGb = validateNumber(min, memory, 'GB');
  if (max !== current.maxTotalMemoryGb) errors.maxTotalMemoryGb = validateNumber(max, memory, 'GB');
  const isMemoryChanged = min !== current.minTotalMemoryGb || max !== current.maxTotalMemoryGb;
  const isMemoryValid = min !== '' && max !== '' && !errors.minTotalMemoryGb && !errors.maxTotalMemoryGb;
  if (isMemoryChanged && isMemoryValid && min > max)
    errors.minTotalMemoryGb = `The minimum (${min} GB) must not exceed the maximum (${max} GB)`;
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
