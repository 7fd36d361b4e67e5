import { Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { formatShortDateTime } from '../../../parts/format/times.ts';
import { type DashboardSearch, PRESETS } from '../search.ts';
import { DEFAULT_PRESET, formatDateTimeField, PRESET_LABELS, parseDateTimeField, type Range } from './range.ts';

interface Props {
  search: DashboardSearch;
  range: Range;
  zone: string;
  onChange: (part: Pick<DashboardSearch, 'last' | 'from' | 'to'>) => void;
}

export function RangePicker({ search, range, zone, onChange }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const isUtc = search.utc === true;
  const label =
    search.from !== undefined
      ? `${formatShortDateTime(range.start, zone)} – ${formatShortDateTime(range.end, zone)}`
      : `Last ${PRESET_LABELS[search.last ?? DEFAULT_PRESET].replace(/^1 /, '')}`;
  const choose = (part: Pick<DashboardSearch, 'last' | 'from' | 'to'>) => {
    setIsOpen(false);
    onChange(part);
  };
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" trapFocus shadow="md" withRoles width={320}>
      <Popover.Target>
        <Button
          variant="default"
          size="sm"
          onClick={() => setIsOpen((open) => !open)}
          aria-label={`Time range: ${label}`}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Time range">
        <Group gap={6} mb="sm">
          {PRESETS.map((preset) => (
            <Button
              key={preset}
              size="compact-sm"
              variant={search.from === undefined && preset === (search.last ?? DEFAULT_PRESET) ? 'filled' : 'default'}
              onClick={() => choose({ last: preset })}
            >
              {PRESET_LABELS[preset]}
            </Button>
          ))}
        </Group>
        <AbsoluteRange key={`${range.start} ${isUtc}`} range={range} isUtc={isUtc} onChoose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface AbsoluteProps {
  range: Range;
  isUtc: boolean;
  onChoose: (part: { from: number; to: number }) => void;
}

function AbsoluteRange({ range, isUtc, onChoose }: AbsoluteProps) {
  const [from, setFrom] = useState(() => formatDateTimeField(range.start, isUtc));
  const [to, setTo] = useState(() => formatDateTimeField(range.end, isUtc));
  const [start, end] = [parseDateTimeField(from, isUtc), parseDateTimeField(to, isUtc)];
  const isComplete = Number.isFinite(start) && Number.isFinite(end);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete && start < end) onChoose({ from: start, to: end });
      }}
    >
      <Stack gap="xs">
        <TextInput
          type="datetime-local"
          label="From"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="To"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={isComplete && start >= end ? 'The end must be after the start' : undefined}
        />
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {isUtc ? 'Times in UTC' : 'Times in your time zone'}
          </Text>
          <Button type="submit" size="compact-sm" disabled={!isComplete || start >= end}>
            Apply
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
