import { Badge, Button, Skeleton, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ScalingScheduleGetResult } from '../../../api/generated.ts';
import { scheduleQuery } from '../../../api/service-settings.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { ActionsMenu, createActionsColumn } from '../../../parts/forms/actions-menu.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../../parts/layout/icons.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx';
import { useService } from '../service-context.tsx';
import classes from '../services.module.css';
import {
  formatBase,
  formatWeekdays,
  formatWindow,
  listSettings,
  MAX_ENTRIES,
  type NewScheduleEntry,
  type ScheduleEntry,
  toStoredEntry,
} from './schedule-draft.ts';
import { ScheduleEntryDialog } from './schedule-entry-dialog.tsx';

/** Weekly windows with their own size. The API replaces all entries at once. */
export function ScheduleTab() {
  const service = useService();
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(scheduleQuery(api, organizationId, service.id));
  const [edited, setEdited] = useState<ScheduleEntry | 'new'>();
  const [removed, setRemoved] = useState<ScheduleEntry>();
  const canChange = can('scalingScheduleUpsert');

  const store = async (
    schedule: ScalingScheduleGetResult,
    change: (entries: NewScheduleEntry[]) => NewScheduleEntry[],
  ) => {
    const entries = change(schedule.entries.map((entry) => toStoredEntry(entry, schedule.baseConfig)));
    await api.scalingScheduleUpsert({ organizationId, serviceId: service.id, body: { entries } });
    await queries.invalidateQueries({ queryKey: [organizationId] });
    notifySuccess(`Saved the schedule of ${service.name}`);
  };

  if (!data)
    return (
      <Panel title="Scaling schedule">
        {error ? (
          <ErrorNotice error={error} title="Could not load the schedule" retry={() => refetch()} />
        ) : (
          <Skeleton height={120} />
        )}
      </Panel>
    );
  const position = edited === undefined || edited === 'new' ? -1 : data.entries.findIndex(({ id }) => id === edited.id);
  const replaced = data.entries[position];
  return (
    <Panel
      title="Scaling schedule"
      flush
      aside={
        canChange &&
        data.entries.length < MAX_ENTRIES && (
          <Button size="compact-sm" leftSection={<PlusIcon size={14} />} onClick={() => setEdited('new')}>
            Add window
          </Button>
        )
      }
    >
      <Text size="sm" c="dimmed" className={classes.intro}>
        In a window, its settings replace those of the service. Where windows overlap, the first one applies. Outside:{' '}
        {formatBase(data.baseConfig)}.
      </Text>
      {data.entries.length === 0 ? (
        <EmptyState title="No windows">
          Add one to use another size at certain times, for example at night or on weekends.
        </EmptyState>
      ) : (
        <DataTable
          label="Scaling schedule"
          rows={data.entries}
          rowKey={({ id }) => id}
          columns={[
            ...COLUMNS,
            ...(canChange
              ? [
                  createActionsColumn((entry: ScheduleEntry) => (
                    <ActionsMenu
                      subject={`window ${entry.name}`}
                      actions={[{ name: 'Edit', onClick: () => setEdited(entry) }]}
                      onDelete={() => setRemoved(entry)}
                    />
                  )),
                ]
              : []),
          ]}
        />
      )}
      {edited && (
        <ScheduleEntryDialog
          entry={replaced}
          index={position < 0 ? data.entries.length : position}
          replaced={replaced && toStoredEntry(replaced, data.baseConfig)}
          onClose={() => setEdited(undefined)}
          onSave={(entry) =>
            store(data, (entries) => (position < 0 ? [...entries, entry] : entries.with(position, entry)))
          }
        />
      )}
      {removed && (
        <ConfirmDialog
          opened
          title="Delete window"
          action="Delete window"
          isDangerous
          onConfirm={() =>
            store(data, (entries) => entries.filter((_, index) => data.entries[index]?.id !== removed.id))
          }
          onClose={() => setRemoved(undefined)}
        >
          The window <b>{removed.name}</b> is removed from the schedule of <b>{service.name}</b>.
        </ConfirmDialog>
      )}
    </Panel>
  );
}

const COLUMNS: Column<ScheduleEntry>[] = [
  {
    header: 'Window',
    cell: (entry) => (
      <div className={classes.name}>
        <Text size="sm" fw={600} component="span">
          {entry.name}
        </Text>
        {entry.isActiveNow && (
          <Badge variant="light" size="sm" tt="none" component="span" miw="max-content">
            active now
          </Badge>
        )}
      </div>
    ),
  },
  {
    header: 'When',
    cell: (entry) => (
      <>
        <div>{formatWeekdays(entry.weekdays)}</div>
        <Text size="xs" c="dimmed">
          {formatWindow(entry)}
        </Text>
      </>
    ),
  },
  { header: 'Settings', cell: (entry) => listSettings(entry).join(' · ') || '–' },
];
