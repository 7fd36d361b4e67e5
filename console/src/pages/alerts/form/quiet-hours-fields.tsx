import { ActionIcon, Button, Chip, Group, Input, Select, Stack, TextInput } from '@mantine/core';
import { PlusIcon, TrashIcon } from '../../../parts/layout/icons.tsx';
import { createRange, type Day, type QuietRange } from './alert-draft.ts';
import type { FieldsProps } from './watch-fields.tsx';

const DAYS: { value: Day; label: string }[] = [
  { value: 'mon', label: 'Mon' },
  { value: 'tue', label: 'Tue' },
  { value: 'wed', label: 'Wed' },
  { value: 'thu', label: 'Thu' },
  { value: 'fri', label: 'Fri' },
  { value: 'sat', label: 'Sat' },
  { value: 'sun', label: 'Sun' },
];

/** The server may know more names than the browser. */
const listZones = (chosen: string): string[] => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), chosen])];

/** Local times at which nothing is sent. */
export function QuietHoursFields({ draft, errorAt, onChange }: FieldsProps) {
  const { quietRanges: ranges, timezone } = draft;
  const change = (key: string, part: Partial<QuietRange>) =>
    onChange({ quietRanges: ranges.map((one) => (one.key === key ? { ...one, ...part } : one)) });
  return (
    <Input.Wrapper
      labelElement="div"
      label="Quiet hours"
      description="Nothing is sent during these times. Alerts that are still firing afterwards are sent then."
    >
      <Stack gap="sm" mt={6}>
        {ranges.length > 0 && (
          <Select
            label="Time zone"
            searchable
            allowDeselect={false}
            maw={320}
            data={listZones(timezone)}
            value={timezone}
            error={errorAt('quietHours.timezone')}
            onChange={(value) => onChange({ timezone: value ?? 'UTC' })}
          />
        )}
        {ranges.map(({ key, days, start, end }, index) => {
          const path = `quietHours.ranges.${index}`;
          return (
            <Group key={key} gap="xs" align="flex-end" role="group" aria-label={`Range ${index + 1}`}>
              <TextInput
                type="time"
                label="From"
                value={start}
                error={errorAt(`${path}.start`)}
                onChange={(event) => change(key, { start: event.currentTarget.value })}
              />
              <TextInput
                type="time"
                label="To"
                value={end}
                error={errorAt(`${path}.end`)}
                onChange={(event) => change(key, { end: event.currentTarget.value })}
              />
              <Input.Wrapper
                labelElement="div"
                label={days.length === 0 ? 'Every day' : 'Starts on'}
                error={errorAt(`${path}.days`)}
              >
                <Chip.Group multiple value={days} onChange={(chosen) => change(key, { days: chosen as Day[] })}>
                  <Group gap={4} mih={36}>
                    {DAYS.map(({ value, label }) => (
                      <Chip key={value} value={value} size="xs">
                        {label}
                      </Chip>
                    ))}
                  </Group>
                </Chip.Group>
              </Input.Wrapper>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                aria-label={`Remove range ${index + 1}`}
                onClick={() => onChange({ quietRanges: ranges.filter((one) => one.key !== key) })}
              >
                <TrashIcon size={15} />
              </ActionIcon>
            </Group>
          );
        })}
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<PlusIcon size={14} />}
            onClick={() => onChange({ quietRanges: [...ranges, createRange()] })}
          >
            Add quiet hours
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
