import type { Session } from '../../api/session.ts';
import type { ScalingChange, Service } from '../../api/types.ts';

/** What is being edited; an empty field is ''. */
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

/** The settings speak of the memory of three replicas, however many there are. */
export const REPLICAS_IN_TOTAL = 3;
export const MEMORY_STEP_GB = 12;
const SMALLEST_GB = 24;
const LARGEST_GB = 1068;
const LARGEST_UNPAID_GB = 360;
const MOST_REPLICAS = 20;
export const SHORTEST_IDLE_MINUTES = 5;

interface Limits {
  min: number;
  max: number;
  /** Why the field cannot be changed at all. */
  fixed: string | undefined;
}

/** What the server would say anyway, said before it is asked. */
export function resolveLimits(
  service: Service,
  organization: Session['organization'],
): { replicas: Limits; memory: Limits } {
  const isBasic = organization.tier === 'BASIC';
  const isDevelopment = service.tier === 'development';
  const fixed = isDevelopment ? 'A development service has a fixed size' : undefined;
  return {
    replicas: {
      min: isBasic ? 1 : service.isPrimary ? 2 : 1,
      max: isBasic ? 1 : MOST_REPLICAS,
      fixed: isBasic ? 'A service of a basic organization has one replica' : fixed,
    },
    memory: {
      min: SMALLEST_GB,
      max: organization.paid ? LARGEST_GB : LARGEST_UNPAID_GB,
      fixed: isBasic ? 'A basic organization has services of one size' : fixed,
    },
  };
}

export const toScalingDraft = (service: Service): ScalingDraft => ({
  numReplicas: service.numReplicas,
  minTotalMemoryGb: service.minTotalMemoryGb,
  maxTotalMemoryGb: service.maxTotalMemoryGb,
  idleScaling: service.idleScaling,
  idleTimeoutMinutes: service.idleTimeoutMinutes,
});

/** Only what differs: fields left out keep whatever value they have by then. */
export function toScalingChange(service: Service, draft: ScalingDraft): ScalingChange {
  const now = toScalingDraft(service);
  return Object.fromEntries(
    SCALING_FIELDS.filter((field) => draft[field] !== now[field] && draft[field] !== '').map((field) => [
      field,
      draft[field],
    ]),
  );
}

export type ScalingErrors = Partial<Record<ScalingField, string>>;

/** What is wrong with the fields that were touched. */
export function validateScaling(
  service: Service,
  draft: ScalingDraft,
  { replicas, memory }: ReturnType<typeof resolveLimits>,
): ScalingErrors {
  const mistakes: ScalingErrors = {};
  const now = toScalingDraft(service);
  const { numReplicas, minTotalMemoryGb: min, maxTotalMemoryGb: max, idleTimeoutMinutes } = draft;
  if (numReplicas !== now.numReplicas)
    mistakes.numReplicas = validateRange(numReplicas, replicas.min, replicas.max, 'replicas');
  if (min !== now.minTotalMemoryGb) mistakes.minTotalMemoryGb = validateMemory(min, memory);
  if (max !== now.maxTotalMemoryGb) mistakes.maxTotalMemoryGb = validateMemory(max, memory);
  const isTouched = min !== now.minTotalMemoryGb || max !== now.maxTotalMemoryGb;
  if (isTouched && min !== '' && max !== '' && min > max && !mistakes.minTotalMemoryGb && !mistakes.maxTotalMemoryGb)
    mistakes.minTotalMemoryGb = `The smallest size (${min} GB) is above the largest (${max} GB)`;
  if (idleTimeoutMinutes === '') mistakes.idleTimeoutMinutes = 'Give a number of minutes';
  else if (idleTimeoutMinutes !== now.idleTimeoutMinutes && idleTimeoutMinutes < SHORTEST_IDLE_MINUTES)
    mistakes.idleTimeoutMinutes = `At least ${SHORTEST_IDLE_MINUTES} minutes`;
  return Object.fromEntries(Object.entries(mistakes).filter(([, text]) => text !== undefined));
}

function validateMemory(gb: number | '', { min, max }: Limits): string | undefined {
  const mistake = validateRange(gb, min, max, 'GB');
  if (mistake || gb === '' || gb % MEMORY_STEP_GB === 0) return mistake;
  const below = Math.floor(gb / MEMORY_STEP_GB) * MEMORY_STEP_GB;
  return `In steps of ${MEMORY_STEP_GB}: ${below} or ${below + MEMORY_STEP_GB} GB`;
}

function validateRange(value: number | '', min: number, max: number, unit: string): string | undefined {
  if (value === '') return 'Give a number';
  return value < min || value > max ? `From ${min} to ${max} ${unit}` : undefined;
}
