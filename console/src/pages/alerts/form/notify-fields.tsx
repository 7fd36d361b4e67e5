import { Button, Group, MultiSelect, Select, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { createAlertConstraints } from '../../../api/generated.ts';
import { type Channel, SERVICE_LABELS } from '../../../parts/channels/channels.ts';
import { PlusIcon } from '../../../parts/layout/icons.tsx';
import classes from '../alerts.module.css';
import type { AlertDraft } from './alert-draft.ts';
import { MinutesInput } from './rule-fields.tsx';
import type { FieldsProps } from './watch-fields.tsx';

const ChannelDialog = lazy(() => import('../../channels/channel-dialog.tsx'));

export const SEVERITY_LABELS: Readonly<Record<AlertDraft['severity'], string>> = {
  critical: 'Critical',
  error: 'Error',
  warning: 'Warning',
  info: 'Info',
};

interface Props extends FieldsProps {
  channels: readonly Channel[];
  channelIds: readonly string[];
}

/** Who is told, and how often. */
export function NotifyFields({ draft, channels, channelIds, errorAt, onChange }: Props) {
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Stack gap="md">
      <Group gap="xs" align="flex-end">
        <MultiSelect
          flex="1 1 240px"
          label="Channels"
          placeholder={channelIds.length === 0 ? 'Choose channels' : ''}
          nothingFoundMessage="There is no such channel."
          searchable
          maxValues={createAlertConstraints.channels.maxItems}
          data={channels.map(({ id, name, service }) => ({ value: id, label: `${name} (${SERVICE_LABELS[service]})` }))}
          value={[...channelIds]}
          error={errorAt('channels') ?? errorAt('channel')}
          onChange={(ids) => onChange({ channelIds: ids })}
        />
        <Button variant="default" leftSection={<PlusIcon size={14} />} onClick={() => setIsCreating(true)}>
          New channel
        </Button>
      </Group>
      {channels.length === 0 && (
        <Text size="sm" c="dimmed">
          A channel is where messages go: a webhook, Slack, Microsoft Teams, PagerDuty or mail.
        </Text>
      )}
      <div className={classes.fields}>
        <Select
          label="Severity"
          description="Part of each message"
          data={Object.entries(SEVERITY_LABELS).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          value={draft.severity}
          error={errorAt('severity')}
          onChange={(severity) => onChange({ severity: severity as AlertDraft['severity'] })}
        />
        <MinutesInput
          label="Repeat (minutes)"
          description="While it fires. 0: never"
          placeholder="240"
          value={draft.repeatMinutes}
          error={errorAt('repeatMinutes')}
          onChange={(repeatMinutes) => onChange({ repeatMinutes })}
        />
      </div>
      {isCreating && (
        <Suspense>
          <ChannelDialog
            onSaved={({ id }) => onChange({ channelIds: [...channelIds, id] })}
            onClose={() => setIsCreating(false)}
          />
        </Suspense>
      )}
    </Stack>
  );
}
