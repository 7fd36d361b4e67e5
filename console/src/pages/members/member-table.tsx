import { Badge, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Member } from '../../api/types.ts';
import { useSession } from '../../app/context.tsx';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import classes from './members.module.css';

export type MemberAction = 'roles' | 'sessions' | 'remove';
type OnAction = (member: Member, action: MemberAction) => void;
type Session = ReturnType<typeof useSession>;

export function MemberTable({ members, onAction }: { members: Member[] | undefined; onAction: OnAction }) {
  const session = useSession();
  return (
    <DataTable
      label="Members"
      columns={createColumns(session, onAction)}
      rows={members}
      rowKey={({ userId }) => userId}
      loadingRows={3}
    />
  );
}

function createColumns({ credential, can }: Session, onAction: OnAction): Column<Member>[] {
  const canSeeHistory = can('activityGetList');
  const columns: Column<Member>[] = [
    {
      header: 'Name',
      sortBy: ({ name }) => name,
      cell: (member) => (
        <>
          <Group gap={8}>
            <span className={classes.name}>{member.name}</span>
            {member.userId === credential.id && (
              <Badge variant="default" size="sm" tt="none" fw={500}>
                you
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" className={classes.email} component="div">
            {member.email !== member.name && <span>{member.email}</span>}
            {canSeeHistory && (
              <Link
                to="/activity"
                search={{ resource: member.userId }}
                className={classes.history}
                aria-label={`History of ${member.name}`}
              >
                History
              </Link>
            )}
            <span className={classes.onPhone}>
              <LastSeen at={member.lastSeenAt} />
            </span>
          </Text>
        </>
      ),
    },
    { header: 'Roles', cell: (member) => <span className={classes.roles}>{formatRoles(member)}</span> },
    {
      header: 'Joined',
      sortBy: ({ joinedAt }) => joinedAt,
      cell: ({ joinedAt }) => <Timestamp at={joinedAt} show="date" />,
      from: 'md',
    },
    {
      header: 'Last seen',
      sortBy: ({ lastSeenAt = '' }) => lastSeenAt,
      cell: ({ lastSeenAt }) => <LastSeen at={lastSeenAt} />,
      from: 'sm',
    },
  ];
  if (can('memberUpdate') || can('memberDelete') || can('memberSessionGetList'))
    columns.push(
      createActionsColumn((member) => (
        <ActionsMenu
          subject={member.name}
          actions={[
            ...(can('memberUpdate') ? [{ name: 'Change roles', onClick: () => onAction(member, 'roles') }] : []),
            ...(can('memberSessionGetList') ? [{ name: 'Sessions', onClick: () => onAction(member, 'sessions') }] : []),
          ]}
          onDelete={can('memberDelete') ? () => onAction(member, 'remove') : undefined}
          deleteLabel={member.userId === credential.id ? 'Leave' : 'Remove'}
        />
      )),
    );
  return columns;
}

const LastSeen = ({ at }: { at: string | undefined }) => (at ? <Timestamp at={at} show="ago" /> : <>Never</>);

/** "admin (from a rule), developer": those of the member rules cannot be removed here. */
const formatRoles = ({ assignedRoles, roleIdsByRules }: Member): string =>
  assignedRoles
    .map(({ roleId, roleName }) => (roleIdsByRules.includes(roleId) ? `${roleName} (from a rule)` : roleName))
    .join(', ') || 'none';
