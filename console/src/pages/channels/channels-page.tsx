import { Button, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { useDialogInUrl } from '../../app/use-dialog-in-url.ts';
import { type Channel, channelsQuery, SERVICE_LABELS } from '../../parts/channels/channels.ts';
import { plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import ChannelDialog from './channel-dialog.tsx';
import classes from './channels.module.css';
import { SigningSecretDialog } from './signing-secret-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';

type ChannelAction = 'edit' | 'test' | 'rotate' | 'delete';
/** Only their requests are signed. */
const SIGNED: readonly Channel['service'][] = ['generic', 'incidentio'];

/** Where alerts and budgets send messages. */
export function ChannelsPage() {
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(channelsQuery(api, organizationId));
  const [isCreating, setIsCreating] = useDialogInUrl('create');
  const [chosen, setChosen] = useState<{ channel: Channel; action: ChannelAction }>();
  const test = useMutation({ mutationFn: (id: string) => api.testWebhook({ id }) });
  const close = () => setChosen(undefined);
  const remove = async ({ id, name }: Channel) => {
    await api.deleteWebhook({ id });
    await queries.invalidateQueries({ queryKey: channelsQuery(api, organizationId).queryKey });
    void queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
    notifySuccess(`Deleted channel ${name}`);
  };
  const [rotated, setRotated] = useState<{ name: string; secret: string }>();
  const rotate = async ({ id, name }: Channel) => {
    const { signingSecret = '' } = await api.rotateWebhookSecret({ id });
    void queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
    setRotated({ name, secret: signingSecret });
  };
  const create = canChangeDashboards && (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
      Create channel
    </Button>
  );
  const act = (channel: Channel, action: ChannelAction) => {
    setChosen({ channel, action });
    if (action === 'test') test.mutate(channel.id);
  };
  return (
    <Page title="Channels" subtitle={data ? plural(data.length, 'channel') : 'Loading…'} actions={create}>
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load channels" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {data?.length === 0 ? (
            <EmptyState title="No channels yet" action={create}>
              A channel is where alerts and budgets send messages: a webhook, Slack, Microsoft Teams, PagerDuty,
              incident.io or mail.
            </EmptyState>
          ) : (
            <DataTable
              label="Channels"
              rows={data}
              rowKey={({ id }) => id}
              loadingRows={3}
              columns={createColumns(canChangeDashboards ? act : undefined)}
            />
          )}
        </Panel>
      )}
      {isCreating && <ChannelDialog onClose={() => setIsCreating(false)} />}
      {chosen?.action === 'edit' && <ChannelDialog channel={chosen.channel} onClose={close} />}
      {chosen?.action === 'test' && <TestDialog channel={chosen.channel} test={test} onClose={close} />}
      {chosen?.action === 'rotate' && (
        <ConfirmDialog
          opened
          isDangerous
          title="Replace the signing secret?"
          action="Replace"
          onConfirm={() => rotate(chosen.channel)}
          onClose={close}
        >
          Requests to <b>{chosen.channel.name}</b> are signed with the new secret at once. The receiver rejects them
          until it knows it.
        </ConfirmDialog>
      )}
      {rotated && <SigningSecretDialog {...rotated} onClose={() => setRotated(undefined)} />}
      {chosen?.action === 'delete' && (
        <ConfirmDialog
          opened
          isDangerous
          title="Delete this channel?"
          action="Delete"
          onConfirm={() => remove(chosen.channel)}
          onClose={close}
        >
          Nothing will be sent to <b>{chosen.channel.name}</b> any more. This cannot be undone.
        </ConfirmDialog>
      )}
    </Page>
  );
}

function createColumns(onAction: ((channel: Channel, action: ChannelAction) => void) | undefined): Column<Channel>[] {
  const columns: Column<Channel>[] = [
    {
      header: 'Name',
      sortBy: ({ name }) => name,
      cell: ({ name, description }) => (
        <>
          <span className={classes.name}>{name}</span>
          {description && (
            <Text size="xs" c="dimmed" className={classes.target}>
              {description}
            </Text>
          )}
        </>
      ),
    },
    { header: 'Service', sortBy: ({ service }) => service, cell: ({ service }) => SERVICE_LABELS[service] },
    {
      header: 'Sends to',
      from: 'sm',
      cell: (channel) => <span className={classes.target}>{formatTarget(channel)}</span>,
    },
    { header: 'Changed', from: 'lg', cell: ({ updatedAt }) => <Timestamp at={updatedAt} show="ago" /> },
  ];
  if (onAction)
    columns.push(
      createActionsColumn((channel) => (
        <ActionsMenu
          subject={`channel ${channel.name}`}
          actions={[
            { name: 'Send a test', onClick: () => onAction(channel, 'test') },
            { name: 'Edit', onClick: () => onAction(channel, 'edit') },
            ...(SIGNED.includes(channel.service)
              ? [{ name: 'Replace signing secret', onClick: () => onAction(channel, 'rotate') }]
              : []),
          ]}
          onDelete={() => onAction(channel, 'delete')}
        />
      )),
    );
  return columns;
}

/** The path and query of a URL are often secret. */
function formatTarget({ service, url, to }: Channel): string {
  if (to) return to.join(', ');
  if (url === undefined) return SERVICE_LABELS[service];
  return URL.canParse(url) ? new URL(url).origin : url;
}
