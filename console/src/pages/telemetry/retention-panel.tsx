import { Button, Group, NumberInput, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import type { TelemetryRetentionGetResult } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { retentionQuery } from './queries.ts';
import { SIGNAL_LABELS } from './words.ts';

const SIGNALS = ['logs', 'traces', 'metrics'] as const;
type Draft = Record<(typeof SIGNALS)[number], number | string>;

/** How long logs, traces and metrics are kept. */
export function RetentionPanel() {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(retentionQuery(api, organizationId));
  return (
    <Panel title="Retention">
      {data ? (
        <RetentionForm key={JSON.stringify(data)} stored={data} />
      ) : error ? (
        <ErrorNotice error={error} title="Could not load the retention" retry={() => refetch()} />
      ) : (
        <Skeleton height={90} />
      )}
    </Panel>
  );
}

function RetentionForm({ stored }: { stored: TelemetryRetentionGetResult }) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>(stored);
  const changed = SIGNALS.filter((signal) => draft[signal] !== stored[signal]);
  const isInvalid = changed.some((signal) => typeof draft[signal] !== 'number');
  const save = useMutation({
    mutationFn: () => {
      // The maximum is stored as no value of its own, so that it follows the server.
      const days = changed.map((signal) => [signal, draft[signal] === stored.maximum ? null : draft[signal]]);
      return api.telemetryRetentionUpdate({ organizationId, body: Object.fromEntries(days) });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [organizationId, 'telemetry'] });
      notifySuccess('Saved the retention of telemetry');
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (changed.length > 0 && !isInvalid) save.mutate();
  };
  const general = findOtherErrors(save.error, [...SIGNALS]);
  return (
    <form onSubmit={submit} aria-label="Retention" noValidate>
      <Stack gap="sm">
        <Group align="flex-start">
          {SIGNALS.map((signal) => (
            <NumberInput
              key={signal}
              label={SIGNAL_LABELS[signal]}
              suffix=" days"
              w={140}
              min={1}
              max={stored.maximum}
              allowDecimal={false}
              value={draft[signal]}
              disabled={!can('telemetryRetentionUpdate')}
              error={findFieldError(save.error, signal)}
              onChange={(value) => {
                save.reset();
                setDraft((before) => ({ ...before, [signal]: value }));
              }}
            />
          ))}
        </Group>
        <Text size="xs" c="dimmed">
          At most {stored.maximum} days, the retention of the server. Older rows are removed within an hour and are not
          accepted.
        </Text>
        {general && <Note tone="bad">{general}</Note>}
        {can('telemetryRetentionUpdate') && (
          <Group>
            <Button type="submit" loading={save.isPending} disabled={changed.length === 0 || isInvalid}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
