import { Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Invitation } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import classes from './members.module.css';
import { invitationsQuery } from './queries.ts';

/** Invitations that are still open. */
export function InvitationsPanel() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(invitationsQuery(api, organizationId));
  const [chosen, setChosen] = useState<Invitation>();
  const remove = async ({ id, email }: Invitation) => {
    await api.invitationDelete({ organizationId, invitationId: id });
    notifySuccess(`Deleted the invitation of ${email}`);
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  if (error && !data) return <ErrorNotice error={error} title="Could not load invitations" retry={() => refetch()} />;
  return (
    <>
      <Panel title="Invitations" flush={data?.length !== 0}>
        {data?.length === 0 ? (
          <Text size="sm" c="dimmed">
            No open invitations.
          </Text>
        ) : (
          <DataTable
            label="Invitations"
            columns={createColumns(can('invitationDelete') ? setChosen : undefined)}
            rows={data}
            rowKey={({ id }) => id}
            loadingRows={2}
          />
        )}
      </Panel>
      {chosen && (
        <ConfirmDialog
          opened
          isDangerous
          title="Delete this invitation?"
          action="Delete"
          onConfirm={() => remove(chosen)}
          onClose={() => setChosen(undefined)}
        >
          The link that <b>{chosen.email}</b> has is rejected from now on.
        </ConfirmDialog>
      )}
    </>
  );
}

function createColumns(onDelete: ((invitation: Invitation) => void) | undefined): Column<Invitation>[] {
  const columns: Column<Invitation>[] = [
    { header: 'E-mail', cell: ({ email }) => <span className={classes.name}>{email}</span> },
    {
      header: 'Roles',
      cell: ({ assignedRoles }) => (
        <span className={classes.roles}>{assignedRoles.map(({ roleName }) => roleName).join(', ')}</span>
      ),
    },
    { header: 'Created', cell: ({ createdAt }) => <Timestamp at={createdAt} show="date" />, from: 'md' },
    { header: 'Expires', cell: ({ expireAt }) => <Timestamp at={expireAt} show="date" />, from: 'sm' },
  ];
  if (onDelete)
    columns.push(
      createActionsColumn((invitation) => (
        <ActionsMenu subject={invitation.email} actions={[]} onDelete={() => onDelete(invitation)} />
      )),
    );
  return columns;
}
