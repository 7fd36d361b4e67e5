import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { DRIVERS } from '../driver.ts';
import { getMaxReplicas, type Service } from '../service.ts';
import { AUTOSCALING_MODES } from '../service-settings.ts';
import { getEffectiveScaling } from './schedule.ts';

export const AutoscalingMode = Type.Enum([...AUTOSCALING_MODES], {
  description:
    'vertical changes the size of the replicas between its bounds, horizontal their number; the other is then fixed',
});

export const CurrentScaling = NamedObject(
  'CurrentScaling',
  {
    effectiveAutoscalingMode: AutoscalingMode,
    effectiveMinReplicaMemoryGb: Type.Number(),
    effectiveMaxReplicaMemoryGb: Type.Number(),
    effectiveMinReplicas: Type.Integer(),
    effectiveMaxReplicas: Type.Integer(),
    effectiveIdleScaling: Type.Boolean(),
    effectiveIdleTimeoutMinutes: Type.Number(),
    activeEntryId: Type.Optional(Type.String({ format: 'uuid' })),
  },
  {
    description:
      'The settings in effect: those of the active entry of the scaling schedule, or of the service. Where the driver reports a size, they are what was observed: until a change of the settings is made, and if the driver runs fewer replicas',
  },
);

/** Bounds that the observed size is in (decision S8). */
export function toCurrentScaling(service: Readonly<Service>, now: number): Static<typeof CurrentScaling> {
  const { scaling, activeEntry } = getEffectiveScaling(service, now);
  const { minReplicaMemoryGb, maxReplicaMemoryGb } = scaling;
  const mode = scaling.autoscalingMode ?? 'vertical';
  const maxDriverReplicas = DRIVERS[service.driver].maxReplicas ?? Number.POSITIVE_INFINITY;
  const minReplicas = Math.min(scaling.numReplicas, maxDriverReplicas);
  const maxReplicas = Math.min(getMaxReplicas(scaling), maxDriverReplicas);
  const { memoryGb = minReplicaMemoryGb, replicas = minReplicas } = service.observed;
  return {
    effectiveAutoscalingMode: mode,
    effectiveMinReplicaMemoryGb: Math.min(minReplicaMemoryGb, memoryGb),
    effectiveMaxReplicaMemoryGb: Math.max(maxReplicaMemoryGb, memoryGb),
    effectiveMinReplicas: mode === 'vertical' ? replicas : Math.min(minReplicas, replicas),
    effectiveMaxReplicas: mode === 'vertical' ? replicas : Math.max(maxReplicas, replicas),
    effectiveIdleScaling: scaling.idleScaling,
    effectiveIdleTimeoutMinutes: scaling.idleTimeoutMinutes,
    ...(activeEntry ? { activeEntryId: activeEntry.id } : undefined),
  };
}
