import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { backupsQuery } from '../../../api/service-settings.ts';
import type { Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatNumber } from '../../../parts/format/format.ts';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx';
import { RestoreDialog } from './restore-dialog.tsx';

type Backup = Awaited<ReturnType<ReturnType<typeof useApi>['backupGetList']>>[number];

const MEGABYTE = 1e6;

/** The backups of a service that has data. */
export function BackupList({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const [restored, setRestored] = useState<Backup>();
  const { data, error, refetch } = useQuery(backupsQuery(api, organizationId, service.id));
  const reload = () => queries.invalidateQueries({ queryKey: [organizationId, 'backups', service.id] });
  const create = useMutation({
    mutationFn: () => api.backupCreate({ organizationId, serviceId: service.id }),
    onSettled: reload,
  });
  const verify = useMutation({
    mutationFn: (backupId: string) => api.backupVerify({ organizationId, serviceId: service.id, backupId }),
    onSettled: reload,
  });
  const actions: Column<Backup> = {
    header: 'Actions',
    align: 'right',
    cell: (backup) =>
      backup.status === 'done' && (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {can('backupVerify') && (
            <Button
              size="compact-sm"
              variant="default"
              disabled={backup.verification?.status === 'in_progress'}
              onClick={() => verify.mutate(backup.id)}
            >
              Verify
            </Button>
          )}
          {can('instanceCreate') && (
            <Button size="compact-sm" variant="default" onClick={() => setRestored(backup)}>
              Restore
            </Button>
          )}
        </Group>
      ),
  };
  const failure = create.error ?? verify.error;
  const button = can('backupCreate') && (
    <Button size="compact-sm" loading={create.isPending} onClick={() => create.mutate()}>
      Back up now
    </Button>
  );
  return (
    <Panel title="Backups" aside={button} flush>
      {failure && <Note tone="bad">{failure.message}</Note>}
      {error ? (
        <ErrorNotice error={error} title="Could not load backups" retry={() => refetch()} />
      ) : data?.length === 0 ? (
        <EmptyState title="No backups yet">
          {service.driver === 'embedded'
            ? 'The first one is made when it is due, or now.'
            : 'ClickHouse writes the backups of this service to S3-compatible storage, if the server has one (--backup-storage) and a key for it (--backup-s3-sql-credentials-file).'}
        </EmptyState>
      ) : (
        <DataTable label="Backups" columns={[...COLUMNS, actions]} rows={data} rowKey={({ id }) => id} />
      )}
      {restored && <RestoreDialog service={service} backup={restored} onClose={() => setRestored(undefined)} />}
    </Panel>
  );
}

const STATUS_LABELS: Record<Backup['status'], string> = { done: 'Done', error: 'Failed', in_progress: 'In progress' };

const COLUMNS: Column<Backup>[] = [
  { header: 'Started', cell: ({ startedAt }) => <Timestamp at={startedAt} /> },
  {
    header: 'Status',
    cell: ({ status, error }) => (
      <>
        {STATUS_LABELS[status]}
        {error !== undefined && (
          <Text size="sm" c="dimmed">
            {error}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Type', from: 'sm', cell: ({ type }) => (type === 'full' ? 'Full' : 'Incremental') },
  {
    header: 'Size',
    align: 'right',
    from: 'sm',
    cell: ({ sizeInBytes }) =>
      sizeInBytes === undefined ? '' : `${formatNumber(Math.ceil(sizeInBytes / MEGABYTE))} MB`,
  },
  { header: 'Last verified', from: 'md', cell: ({ verification }) => <LastVerified verification={verification} /> },
];

function LastVerified({ verification }: Pick<Backup, 'verification'>) {
  if (!verification) return 'Never';
  const { status, verifiedAt, error } = verification;
  if (status === 'in_progress') return 'In progress';
  return (
    <>
      {verifiedAt && <Timestamp at={verifiedAt} />}
      {error !== undefined && (
        <Text size="sm" c="dimmed">
          {error}
        </Text>
      )}
    </>
  );
}
