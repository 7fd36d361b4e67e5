import { Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Timestamp, useNow } from '../../parts/format/timestamp.tsx';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { isKeyExpiringSoon, type KeyState, toKeyState } from '../../parts/key-state.ts';
import { type Column, DataTable, type Order } from '../../parts/tables/data-table.tsx';
import type { KeyAction } from './key-action-dialog.tsx';
import { keyCreatorsQuery } from './key-creators.ts';
import { formatRoles } from './key-draft.ts';
import classes from './keys.module.css';

type OnAction = (key: Key, action: KeyAction) => void;

interface Props {
  keys: Key[] | undefined;
  order: Order;
  onAction?: OnAction;
}

const NO_CREATORS: ReadonlyMap<string, string> = new Map();

export function KeyTable({ keys, order, onAction }: Props) {
  const now = useNow();
  const { credential, can, organizationId } = useSession();
  const api = useApi();
  const canSeeHistory = can('activityGetList');
  const { data: creators = NO_CREATORS } = useQuery({
    ...keyCreatorsQuery(api, organizationId),
    enabled: canSeeHistory,
  });
  return (
    <DataTable
      label="Keys"
      columns={createColumns(now, credential.id, canSeeHistory, creators, onAction)}
      rows={keys}
      rowKey={({ id }) => id}
      loadingRows={4}
      order={order}
    />
  );
}

function createColumns(
  now: Date,
  ownId: string,
  canSeeHistory: boolean,
  creators: ReadonlyMap<string, string>,
  onAction: OnAction | undefined,
): Column<Key>[] {
  const columns: Column<Key>[] = [
    {
      header: 'Name',
      sortField: 'name',
      cell: (key) => (
        <>
          <Group gap={8}>
            <span className={classes.name}>{key.name}</span>
            {key.id === ownId && (
              <Badge variant="default" size="sm" tt="none" fw={500}>
                current
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" className={classes.suffix}>
            …{key.keySuffix}
            <span className={classes.onNarrow}> · {formatRoles(key)}</span>
            {canSeeHistory && (
              <Link
                to="/activity"
                search={{ resource: key.id }}
                className={classes.history}
                aria-label={`History of ${key.name} (…${key.keySuffix})`}
              >
                History
              </Link>
            )}
            {key.expireAt !== null && (
              <span className={`${classes.onPhone} ${classes.expiry}`} data-soon={isKeyExpiringSoon(key, now)}>
                Expires <Timestamp at={key.expireAt} show="date" />
              </span>
            )}
          </Text>
        </>
      ),
    },
    { header: 'State', cell: (key) => <KeyStateLabel state={toKeyState(key, now)} /> },
    { header: 'Roles', cell: formatRoles, from: 'md' },
    {
      header: 'Created',
      sortField: 'createdAt',
      cell: (key) => <Created target={key} creator={creators.get(key.id)} />,
      from: 'lg',
    },
    {
      header: 'Last used',
      cell: ({ usedAt }) => (usedAt ? <Timestamp at={usedAt} show="ago" /> : 'Never'),
      from: 'md',
    },
    {
      header: 'Expires',
      from: 'sm',
      cell: (key) => (
        <span className={classes.expiry} data-soon={isKeyExpiringSoon(key, now)}>
          {key.expireAt === null ? (
            'Never'
          ) : (
            <Timestamp at={key.expireAt} show={isKeyExpiringSoon(key, now) ? 'ago' : 'date'} />
          )}
        </span>
      ),
    },
    { header: 'IP access list', cell: ({ ipAccessList }) => <Addresses list={ipAccessList} />, from: 'lg' },
  ];
  if (onAction) columns.push(createActionsColumn((key) => <KeyActionsMenu target={key} onAction={onAction} />));
  return columns;
}

/** The creator is unknown if the audit log no longer has the activity. */
function Created({ target: { createdAt }, creator }: { target: Key; creator: string | undefined }) {
  return (
    <>
      <Timestamp at={createdAt} show="date" />
      {creator !== undefined && (
        <Text size="xs" c="dimmed" className={classes.creator}>
          by {creator}
        </Text>
      )}
    </>
  );
}

const STATE_LABELS: Record<KeyState, string> = { enabled: 'Enabled', disabled: 'Disabled', expired: 'Expired' };

function KeyStateLabel({ state }: { state: KeyState }) {
  return (
    <span className={classes.state} data-state={state}>
      {STATE_LABELS[state]}
    </span>
  );
}

function Addresses({ list }: { list: Key['ipAccessList'] }) {
  if (list.length === 0) return <>Any address</>;
  const [first, ...others] = list;
  return (
    <span title={list.map(({ source, description }) => [source, description].filter(Boolean).join(' · ')).join('\n')}>
      {first?.source}
      {others.length > 0 && ` and ${others.length} more`}
    </span>
  );
}

function KeyActionsMenu({ target: key, onAction }: { target: Key; onAction: OnAction }) {
  const isActive = toKeyState(key, useNow()) === 'enabled';
  const isEnabled = key.state === 'enabled';
  return (
    <ActionsMenu
      subject={`${key.name} (…${key.keySuffix})`}
      actions={[
        { name: 'Edit', onClick: () => onAction(key, 'edit') },
        { name: 'Rotate', isDisabled: !isActive, onClick: () => onAction(key, 'rotate') },
        { name: isEnabled ? 'Disable' : 'Enable', onClick: () => onAction(key, isEnabled ? 'disable' : 'enable') },
      ]}
      onDelete={() => onAction(key, 'delete')}
    />
  );
}
