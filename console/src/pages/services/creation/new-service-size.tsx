import { NumberInput, SimpleGrid, Skeleton, Stack, Switch, Text } from '@mantine/core';
import type { ScalingDraft, ScalingField } from '../scaling/scaling-draft.ts';
import type { FieldLimits, ScalingLimits } from '../scaling/scaling-limits.ts';

interface Props {
  /** Undefined until the defaults are loaded. */
  draft: ScalingDraft | undefined;
  limits: ScalingLimits;
  /** The driver runs one replica whatever the setting. */
  isOneReplica: boolean;
  onChange: (part: Partial<ScalingDraft>) => void;
  errorAt: (field: ScalingField) => string | undefined;
}

/** The size of a new service. */
export function NewServiceSize({ draft, limits: { memory, replicas }, isOneReplica, onChange, errorAt }: Props) {
  if (!draft) return <Skeleton height={64} />;
  const fields: {
    field: 'minReplicaMemoryGb' | 'maxReplicaMemoryGb' | 'numReplicas';
    label: string;
    limits: FieldLimits;
  }[] = [
    { field: 'minReplicaMemoryGb', label: 'Minimum memory (GB)', limits: memory },
    { field: 'maxReplicaMemoryGb', label: 'Maximum memory (GB)', limits: memory },
    { field: 'numReplicas', label: 'Replicas', limits: replicas },
  ];
  const reasons = [
    ...new Set([memory, replicas].flatMap(({ isFixed, reason }) => (isFixed && reason ? [reason] : []))),
  ];
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, xs: 3 }} style={{ alignItems: 'start' }}>
        {fields.map(({ field, label, limits: { min, max, step, isFixed } }) => (
          <NumberInput
            key={field}
            label={label}
            min={min}
            max={max}
            step={step}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            disabled={isFixed}
            value={draft[field]}
            onChange={(value) => onChange({ [field]: typeof value === 'number' ? value : '' })}
            error={errorAt(field)}
          />
        ))}
      </SimpleGrid>
      <Switch
        label="Scale to zero when idle"
        checked={draft.idleScaling}
        onChange={(event) => onChange({ idleScaling: event.currentTarget.checked })}
      />
      <Text size="xs" c="dimmed">
        {['Memory is per replica', ...reasons, ...(isOneReplica ? ['An embedded service runs one replica'] : [])].join(
          '. ',
        )}
        .
      </Text>
    </Stack>
  );
}
