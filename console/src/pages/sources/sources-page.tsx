import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { useDialogInUrl } from '../../app/use-dialog-in-url.ts';
import { plural } from '../../parts/format/format.ts';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { ColumnsDialog } from './columns-dialog.tsx';
import { SourceDialog } from './source-dialog.tsx';
import { isBuiltIn, KIND_LABELS, type Source } from './source-draft.ts';
import classes from './sources.module.css';

type SourceAction = 'columns' | 'edit' | 'delete';

/** The tables with telemetry that tiles of dashboards read. */
export function SourcesPage() {
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: [organizationId, 'sources'],
    queryFn: ({ signal }) => api.listSources({}, { signal }),
  });
  const [isCreating, setIsCreating] = useDialogInUrl('create');
  const [chosen, setChosen] = useState<{ source: Source; action: SourceAction }>();
  const close = () => setChosen(undefined);
  const remove = async ({ id, name }: Source) => {
    await api.deleteSource({ id });
    notifySuccess(`Deleted source ${name}`);
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  return (
    <Page
      title="Sources"
      subtitle={data ? `${plural(data.length, 'source')} that tiles of dashboards can read` : 'Loading…'}
      actions={
        canChangeDashboards && (
          <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
            Create source
          </Button>
        )
      }
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load sources" retry={() => refetch()} />
      ) : (
        <Panel flush>
          <DataTable
            label="Sources"
            columns={createColumns(canChangeDashboards, (source, action) => setChosen({ source, action }))}
            rows={data}
            rowKey={({ id }) => id}
            loadingRows={6}
          />
        </Panel>
      )}
      {isCreating && canChangeDashboards && <SourceDialog onClose={() => setIsCreating(false)} />}
      {chosen?.action === 'columns' && <ColumnsDialog source={chosen.source} onClose={close} />}
      {chosen?.action === 'edit' && <SourceDialog target={chosen.source} onClose={close} />}
      {chosen?.action === 'delete' && (
        <ConfirmDialog
          opened
          isDangerous
          title="Delete this source?"
          action="Delete"
          onConfirm={() => remove(chosen.source)}
          onClose={close}
        >
          <b>{chosen.source.name}</b> is deleted. The table and its rows stay. A source that a dashboard uses cannot be
          deleted.
        </ConfirmDialog>
      )}
    </Page>
  );
}

/** A metric source has several tables. */
function Tables({ source: { from, metricTables = {} } }: { source: Source }) {
  const [first, ...others] = [from.tableName, ...Object.values(metricTables)]
    .filter((name) => name !== '' && name !== undefined)
    .map((name) => `${from.databaseName}.${name}`);
  return (
    <span className={classes.code} title={[first, ...others].join('\n')}>
      {first}
      {others.length > 0 && ` and ${others.length} more`}
    </span>
  );
}

function createColumns(canChange: boolean, onAction: (source: Source, action: SourceAction) => void): Column<Source>[] {
  return [
    {
      header: 'Name',
      sortBy: ({ name }) => name,
      cell: (source) => (
        <>
          <Group gap={8}>
            <span className={classes.name}>{source.name}</span>
            {isBuiltIn(source) && (
              <Badge variant="default" size="sm" tt="none" fw={500}>
                built-in
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" className={classes.code}>
            {source.id}
          </Text>
        </>
      ),
    },
    { header: 'Kind', sortBy: ({ kind }) => kind, cell: ({ kind }) => KIND_LABELS[kind], from: 'sm' },
    { header: 'Table', cell: (source) => <Tables source={source} />, from: 'md' },
    {
      header: 'Columns',
      isHeaderHidden: true,
      align: 'right',
      width: 110,
      cell: (source) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Columns of ${source.name}`}
          onClick={() => onAction(source, 'columns')}
        >
          Columns
        </Button>
      ),
    },
    ...(canChange
      ? [
          createActionsColumn<Source>(
            (source) =>
              !isBuiltIn(source) && (
                <ActionsMenu
                  subject={source.name}
                  actions={[{ name: 'Edit', onClick: () => onAction(source, 'edit') }]}
                  onDelete={() => onAction(source, 'delete')}
                />
              ),
          ),
        ]
      : []),
  ];
}
