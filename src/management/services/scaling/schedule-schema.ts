import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText } from '../../../kernel/schemas/storable-text.ts';
import { findZone } from '../../../kernel/time/zone.ts';
import { getMaxReplicas, type Service } from '../service.ts';
import { AUTOSCALING_MODES } from '../service-settings.ts';
import { SCALING_LIMITS } from './scaling-limits.ts';
import { findActiveEntry } from './schedule.ts';

export const MAX_ENTRIES = 50;
const MAX_NAME_LENGTH = 255;

const Mode = Type.Enum([...AUTOSCALING_MODES]);

const Window = {
  weekdays: Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), {
    minItems: 1,
    maxItems: 7,
    uniqueItems: true,
    description: '0 is Sunday, 6 is Saturday',
  }),
  startHourUtc: Type.Integer({ minimum: 0, maximum: 23 }),
  endHourUtc: Type.Integer({
    minimum: 1,
    maximum: 24,
    description: 'An end before the start is on the next day',
  }),
  timeZone: Type.Optional(
    Type.Refine(
      Type.String({
        maxLength: 64,
        description:
          'IANA name, such as Europe/Berlin. With it, the weekdays and hours are local times; without it, UTC',
      }),
      (name) => findZone(name) !== undefined,
      () => 'The value must be the IANA name of a time zone, such as Europe/Berlin',
    ),
  ),
};

const Sizes = {
  minReplicaMemoryGb: Type.Optional(Type.Integer(SCALING_LIMITS.replicaMemoryGb)),
  maxReplicaMemoryGb: Type.Optional(Type.Integer(SCALING_LIMITS.replicaMemoryGb)),
  minReplicas: Type.Optional(Type.Integer(SCALING_LIMITS.numReplicas)),
  maxReplicas: Type.Optional(Type.Integer(SCALING_LIMITS.numReplicas)),
  idleScaling: Type.Optional(Type.Boolean()),
  idleTimeoutMinutes: Type.Optional(Type.Number(SCALING_LIMITS.idleTimeoutMinutes)),
};

export const ScheduleEntryRequest = NamedObject('ScalingScheduleEntryRequest', {
  name: StorableText({ minLength: 1, maxLength: MAX_NAME_LENGTH }),
  ...Window,
  autoscalingMode: Type.Optional(Mode),
  ...Sizes,
  numReplicas: Type.Optional(Type.Integer(SCALING_LIMITS.numReplicas)),
});

export const ScalingScheduleBody = NamedObject('ScalingSchedulePostRequest', {
  entries: Type.Array(ScheduleEntryRequest, {
    maxItems: MAX_ENTRIES,
    description: 'Weekly windows with their own settings; where windows overlap, the first entry applies',
  }),
});

const ScheduleEntryRecord = NamedObject('ScalingScheduleEntry', {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  weekdays: Type.Array(Type.Integer()),
  startHourUtc: Type.Integer(),
  endHourUtc: Type.Integer(),
  timeZone: Type.Optional(Type.String()),
  autoscalingMode: Mode,
  minReplicaMemoryGb: Type.Optional(Type.Number()),
  maxReplicaMemoryGb: Type.Optional(Type.Number()),
  minReplicas: Type.Optional(Type.Integer()),
  maxReplicas: Type.Optional(Type.Integer()),
  idleScaling: Type.Optional(Type.Boolean()),
  idleTimeoutMinutes: Type.Optional(Type.Number()),
  isActiveNow: Type.Boolean(),
});

export const ScalingScheduleRecord = NamedObject('ScalingSchedule', {
  entries: Type.Array(ScheduleEntryRecord),
  baseConfig: Type.Object(
    {
      autoscalingMode: Mode,
      minReplicaMemoryGb: Type.Number(),
      maxReplicaMemoryGb: Type.Number(),
      minReplicas: Type.Integer(),
      maxReplicas: Type.Integer(),
      idleScaling: Type.Boolean(),
      idleTimeoutMinutes: Type.Number(),
    },
    { description: 'The settings of the service, which apply outside the windows' },
  ),
  activeEntryId: Type.Optional(Type.String({ format: 'uuid' })),
});

export function toScheduleRecord(
  { scaling, settings }: Pick<Service, 'scaling' | 'settings'>,
  now: number,
): Static<typeof ScalingScheduleRecord> {
  const entries = settings?.scalingSchedule ?? [];
  const active = findActiveEntry(entries, now);
  const { numReplicas, autoscalingMode = 'vertical', ...base } = scaling;
  return {
    entries: entries.map((entry) => ({ autoscalingMode, ...entry, isActiveNow: entry === active })),
    baseConfig: { ...base, autoscalingMode, minReplicas: numReplicas, maxReplicas: getMaxReplicas(scaling) },
    ...(active ? { activeEntryId: active.id } : undefined),
  };
}
