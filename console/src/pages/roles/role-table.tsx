import { Badge, Group, Text } from '@mantine/core';
import type { Role } from '../../api/types.ts';
import { plural } from '../../parts/format/format.ts';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { listKeyIds } from './role-draft.ts';
import classes from './roles.module.css';

export type RoleAction = 'edit' | 'delete';
type OnAction = (role: Role, action: RoleAction) => void;

interface Props {
  roles: Role[] | undefined;
  keyNames: ReadonlyMap<string, string>;
  onAction?: OnAction;
}

export function RoleTable({ roles, keyNames, onAction }: Props) {
  return (
    <DataTable
      label="Roles"
      columns={createColumns(keyNames, onAction)}
      rows={roles}
      rowKey={({ id }) => id}
      loadingRows={3}
    />
  );
}

function createColumns(keyNames: ReadonlyMap<string, string>, onAction: OnAction | undefined): Column<Role>[] {
  const columns: Column<Role>[] = [
    {
      header: 'Name',
      cell: (role) => (
        <>
          <Group gap={8}>
            <span className={classes.name}>{role.name}</span>
            {role.type === 'system' && (
              <Badge variant="default" size="sm" tt="none" fw={500}>
                system
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" className={classes.permissions}>
            {formatPolicies(role)}
          </Text>
        </>
      ),
    },
    { header: 'Keys', cell: ({ actors }) => <KeyNames ids={listKeyIds(actors)} keyNames={keyNames} /> },
  ];
  if (onAction)
    columns.push(
      createActionsColumn(
        (role) =>
          role.type === 'custom' && (
            <ActionsMenu
              subject={role.name}
              actions={[{ name: 'Edit', onClick: () => onAction(role, 'edit') }]}
              onDelete={() => onAction(role, 'delete')}
            />
          ),
      ),
    );
  return columns;
}

const MAX_SHOWN = 3;

/** "Allow instanceGet, … · Deny …". */
function formatPolicies({ policies }: Role): string {
  if (policies.length === 0) return 'No permissions';
  return policies
    .map(({ allowDeny, permissions }) => {
      const shown = permissions.slice(0, MAX_SHOWN).join(', ');
      const more = permissions.length > MAX_SHOWN ? ` and ${permissions.length - MAX_SHOWN} more` : '';
      return `${allowDeny === 'ALLOW' ? 'Allow' : 'Deny'} ${shown}${more}`;
    })
    .join(' · ');
}

function KeyNames({ ids, keyNames }: { ids: string[]; keyNames: ReadonlyMap<string, string> }) {
  if (ids.length === 0) return <>None</>;
  return (
    <span title={ids.map((id) => keyNames.get(id) ?? id).join('\n')} className={classes.keys}>
      {ids.length > MAX_SHOWN ? plural(ids.length, 'key') : ids.map((id) => keyNames.get(id) ?? id).join(', ')}
    </span>
  );
}
