import { Chip, Group, Input, Modal, NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, type FieldError, findFieldError, findOtherErrors } from '../../../api/errors.ts';
import { FormEnd } from '../../../parts/forms/form-end.tsx';
import {
  createEntryDraft,
  type EntryDraft,
  LIMITS,
  type NewScheduleEntry,
  type ScheduleEntry,
  toEntryDraft,
  toNewEntry,
  WEEKDAYS,
} from './schedule-draft.ts';

interface Props {
  /** Left out: a new window. */
  entry: ScheduleEntry | undefined;
  /** The position in the schedule, which errors name. */
  index: number;
  replaced: NewScheduleEntry | undefined;
  onSave: (entry: NewScheduleEntry) => Promise<void>;
  onClose: () => void;
}

const NUMBERS = [
  { draft: 'minMemory', field: 'minReplicaMemoryGb', label: 'Minimum per replica (GB)', ...LIMITS.minReplicaMemoryGb },
  { draft: 'maxMemory', field: 'maxReplicaMemoryGb', label: 'Maximum per replica (GB)', ...LIMITS.maxReplicaMemoryGb },
  { draft: 'minReplicas', field: 'minReplicas', label: 'Minimum replicas', ...LIMITS.minReplicas, multipleOf: 1 },
  { draft: 'maxReplicas', field: 'maxReplicas', label: 'Maximum replicas', ...LIMITS.maxReplicas, multipleOf: 1 },
] as const;
const FIELDS = [
  ...['name', 'weekdays', 'startHourUtc', 'endHourUtc', 'timeZone', 'idleScaling', 'idleTimeoutMinutes'],
  ...NUMBERS.map(({ field }) => field),
];
const HOURS = Array.from({ length: LIMITS.endHourUtc.maximum + 1 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}));
const START_HOURS = HOURS.slice(LIMITS.startHourUtc.minimum, LIMITS.startHourUtc.maximum + 1);
const END_HOURS = HOURS.slice(LIMITS.endHourUtc.minimum);
const ZONES = [
  { value: '', label: 'UTC' },
  ...Intl.supportedValuesOf('timeZone').map((zone) => ({ value: zone, label: zone })),
];
const IDLING = [
  { value: 'service', label: 'As the service' },
  { value: 'on', label: 'Idles' },
  { value: 'off', label: 'Always on' },
];
const KEPT = 'As the service';

/** One window of the schedule. */
export function ScheduleEntryDialog({ entry, index, replaced, onSave, onClose }: Props) {
  const [draft, setDraft] = useState<EntryDraft>(() => (entry ? toEntryDraft(entry) : createEntryDraft()));
  const save = useMutation({ mutationFn: () => onSave(toNewEntry(draft, replaced)), onSuccess: onClose });
  const edit = (part: Partial<EntryDraft>) => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const error = toEntryError(save.error, index);
  const toNumber = (value: number | string | null) => (typeof value === 'number' ? value : '');
  const title = entry ? 'Edit window' : 'Add window';
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      <form onSubmit={submit} aria-label={title} noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            maxLength={LIMITS.name.maxLength}
            value={draft.name}
            onChange={(event) => edit({ name: event.currentTarget.value })}
            error={findFieldError(error, 'name')}
            data-autofocus
          />
          <Input.Wrapper label="Days" labelElement="div" error={findFieldError(error, 'weekdays')}>
            <Chip.Group multiple value={draft.weekdays} onChange={(weekdays) => edit({ weekdays })}>
              <Group gap={6} mt={4}>
                {WEEKDAYS.map(({ value, label }) => (
                  <Chip key={value} value={value} size="xs">
                    {label}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          </Input.Wrapper>
          <SimpleGrid cols={{ base: 1, xs: 3 }}>
            <Select
              label="From"
              data={START_HOURS}
              value={String(draft.startHour)}
              allowDeselect={false}
              onChange={(hour) => edit({ startHour: Number(hour) })}
              error={findFieldError(error, 'startHourUtc')}
            />
            <Select
              label="To"
              data={END_HOURS}
              value={String(draft.endHour)}
              allowDeselect={false}
              onChange={(hour) => edit({ endHour: Number(hour) })}
              error={findFieldError(error, 'endHourUtc')}
            />
            <Select
              label="Time zone"
              data={ZONES}
              value={draft.timeZone}
              searchable
              allowDeselect={false}
              onChange={(timeZone) => edit({ timeZone: timeZone ?? '' })}
              error={findFieldError(error, 'timeZone')}
            />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            {NUMBERS.map(({ draft: name, field, label, minimum, maximum, multipleOf }) => (
              <NumberInput
                key={field}
                label={label}
                placeholder={KEPT}
                min={minimum}
                max={maximum}
                step={multipleOf}
                clampBehavior="none"
                allowDecimal={false}
                allowNegative={false}
                value={draft[name]}
                onChange={(value) => edit({ [name]: toNumber(value) })}
                error={findFieldError(error, field)}
              />
            ))}
            <Select
              label="Idling"
              data={IDLING}
              value={draft.idling}
              allowDeselect={false}
              onChange={(idling) => edit({ idling: (idling ?? 'service') as EntryDraft['idling'] })}
              error={findFieldError(error, 'idleScaling')}
            />
            <NumberInput
              label="Idle timeout (minutes)"
              placeholder={KEPT}
              min={LIMITS.idleTimeoutMinutes.minimum}
              clampBehavior="none"
              allowNegative={false}
              value={draft.idleTimeout}
              onChange={(value) => edit({ idleTimeout: toNumber(value) })}
              error={findFieldError(error, 'idleTimeoutMinutes')}
            />
          </SimpleGrid>
          <FormEnd
            error={findOtherErrors(error, FIELDS)}
            submit={entry ? 'Save' : 'Add window'}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

/** The server names fields as `entries[2].endHourUtc`; those of this window get the names of the form. */
function toEntryError(error: unknown, index: number): unknown {
  if (!(error instanceof ApiError) || error.fields.length === 0) return error;
  const prefix = `entries[${index}].`;
  const fields = error.fields.map(
    ({ path, message }): FieldError => ({ path: path.startsWith(prefix) ? path.slice(prefix.length) : path, message }),
  );
  return new ApiError(error.message, { status: error.status, fields, requestId: error.requestId });
}
