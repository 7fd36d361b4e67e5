import { Group, NumberInput, RangeSlider, Slider, Stack, Switch, Text } from '@mantine/core';
import { formatMemory, plural } from '../../../parts/format/format.ts';
import { formatSets } from '../../../parts/services/service-status.ts';
import type { ScalingDraft, ScalingField } from './scaling-draft.ts';
import classes from './scaling-fields.module.css';
import { type FieldLimits, MIN_IDLE_MINUTES, type ScalingLimits } from './scaling-limits.ts';

interface Props {
  draft: ScalingDraft;
  limits: ScalingLimits;
  isReadOnly: boolean;
  /** The driver runs at most so many replicas. */
  maxRunning: number | undefined;
  /** That the driver runs, each with the same number of replicas. */
  shards?: number | undefined;
  onChange: (part: Partial<ScalingDraft>) => void;
  errorAt: (field: ScalingField) => string | undefined;
}

const SLIDER_MAX_IDLE_MINUTES = 120;
const toNumber = (value: number | string): number | '' => (typeof value === 'number' ? value : '');
const clamp = (value: number | '', min: number, max: number): number =>
  Math.min(Math.max(value === '' ? min : value, min), max);

export function ScalingFields({
  draft,
  limits: { replicas, memory },
  isReadOnly,
  maxRunning,
  shards = 1,
  onChange,
  errorAt,
}: Props) {
  const min = clamp(draft.minReplicaMemoryGb, memory.min, memory.max);
  const max = clamp(draft.maxReplicaMemoryGb, memory.min, memory.max);
  const isSizeFixed = isReadOnly || memory.isFixed;
  const areReplicasFixed = isReadOnly || replicas.isFixed;
  return (
    <Stack gap={36}>
      <fieldset className={classes.group} disabled={isSizeFixed}>
        <legend className={classes.legend}>Memory</legend>
        <Text size="sm" c="dimmed">
          {memory.isFixed
            ? `${memory.reason}.`
            : `Memory of one replica, in steps of ${memory.step} GB. Every replica scales between the two limits.`}
        </Text>
        <RangeSlider
          className={classes.slider}
          min={memory.min}
          max={memory.max}
          step={memory.step}
          minRange={0}
          disabled={isSizeFixed}
          value={[Math.min(min, max), Math.max(min, max)]}
          onChange={([from, to]) => onChange({ minReplicaMemoryGb: from, maxReplicaMemoryGb: to })}
          label={(value) => `${value} GB`}
          marks={createMarks(memory)}
          classNames={{ markLabel: classes.mark }}
          thumbFromLabel="Minimum memory per replica in GB"
          thumbToLabel="Maximum memory per replica in GB"
        />
        <Group gap="md" align="flex-start" mt={30}>
          {(['minReplicaMemoryGb', 'maxReplicaMemoryGb'] as const).map((field) => (
            <NumberInput
              key={field}
              className={classes.number}
              label={field === 'minReplicaMemoryGb' ? 'Minimum per replica (GB)' : 'Maximum per replica (GB)'}
              description={formatTotal(draft[field], draft.numReplicas, { maxRunning, shards })}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              min={memory.min}
              max={memory.max}
              step={memory.step}
              clampBehavior="none"
              allowDecimal={false}
              allowNegative={false}
              disabled={isSizeFixed}
              value={draft[field]}
              onChange={(value) => onChange({ [field]: toNumber(value) })}
              error={errorAt(field)}
            />
          ))}
        </Group>
      </fieldset>

      <fieldset className={classes.group} disabled={areReplicasFixed}>
        <legend className={classes.legend}>Replicas</legend>
        <Text size="sm" c="dimmed">
          {replicas.isFixed
            ? `${replicas.reason}.`
            : `${replicas.min} to ${replicas.max}.${replicas.reason ? ` ${replicas.reason}.` : ''}`}
          {maxRunning !== undefined &&
            ` This service runs ${plural(maxRunning, 'replica')}, whatever the number here; only ${maxRunning === 1 ? 'it is' : 'they are'} billed.`}
          {shards > 1 && ` Of each of the ${shards} shards: a change adds or removes replicas in all of them.`}
        </Text>
        <div className={classes.pair}>
          <Slider
            className={classes.slider}
            min={replicas.min}
            max={replicas.max}
            disabled={areReplicasFixed}
            value={clamp(draft.numReplicas, replicas.min, replicas.max)}
            onChange={(value) => onChange({ numReplicas: value })}
            thumbLabel="Replicas"
          />
          <NumberInput
            className={classes.number}
            aria-label="Number of replicas"
            min={replicas.min}
            max={replicas.max}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            disabled={areReplicasFixed}
            value={draft.numReplicas}
            onChange={(value) => onChange({ numReplicas: toNumber(value) })}
            error={errorAt('numReplicas')}
          />
        </div>
      </fieldset>

      <fieldset className={classes.group} disabled={isReadOnly}>
        <legend className={classes.legend}>Idling</legend>
        <Switch
          mt={6}
          label="Scale to zero when idle"
          checked={draft.idleScaling}
          disabled={isReadOnly}
          onChange={(event) => onChange({ idleScaling: event.currentTarget.checked })}
          error={errorAt('idleScaling')}
        />
        <Text size="sm" c="dimmed" mt="sm">
          Idle timeout
        </Text>
        <div className={classes.pair}>
          <Slider
            className={classes.slider}
            min={MIN_IDLE_MINUTES}
            max={SLIDER_MAX_IDLE_MINUTES}
            step={5}
            disabled={isReadOnly}
            value={clamp(draft.idleTimeoutMinutes, MIN_IDLE_MINUTES, SLIDER_MAX_IDLE_MINUTES)}
            onChange={(value) => onChange({ idleTimeoutMinutes: value })}
            label={(value) => `${value} min`}
            thumbLabel="Idle timeout in minutes"
          />
          <NumberInput
            className={classes.number}
            aria-label="Idle timeout"
            suffix=" min"
            min={MIN_IDLE_MINUTES}
            clampBehavior="none"
            allowNegative={false}
            disabled={isReadOnly}
            value={draft.idleTimeoutMinutes}
            onChange={(value) => onChange({ idleTimeoutMinutes: toNumber(value) })}
            error={errorAt('idleTimeoutMinutes')}
          />
        </div>
      </fieldset>
    </Stack>
  );
}

/** The memory of all replicas of all shards that run together, which is what is billed. Empty while a number is missing. */
function formatTotal(
  replicaGb: number | '',
  replicas: number | '',
  { maxRunning, shards }: { maxRunning: number | undefined; shards: number },
): string {
  if (replicaGb === '' || replicas === '') return '\u00a0';
  const running = Math.min(replicas, maxRunning ?? replicas);
  return `${formatMemory(replicaGb * running * shards)} in total with ${formatSets(running, shards)}`;
}

/** Marks at both ends and near the thirds, at multiples of ten steps. */
const createMarks = ({ min, max, step }: FieldLimits) =>
  [min, ...[max / 3, (max * 2) / 3].map((value) => Math.round(value / (10 * step)) * 10 * step), max].map((value) => ({
    value,
    label: value,
  }));
