import { ActionIcon, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { DotsIcon } from '../layout/icons.tsx';
import type { Column } from '../tables/data-table.tsx';

interface Action {
  name: string;
  isDisabled?: boolean;
  onClick(): void;
}

interface Props {
  /** What the actions are for, as assistive technology announces it. */
  subject: string;
  actions: Action[];
  /** Without it, nothing can be deleted. */
  onDelete?: (() => void) | undefined;
  deleteLabel?: string;
}

/** The actions of one row of a table; deletion is last and set apart. */
export function ActionsMenu({ subject, actions, onDelete, deleteLabel = 'Delete' }: Props) {
  return (
    <Menu position="bottom-end" shadow="md" width={170}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${subject}`}>
          <DotsIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ name, isDisabled, onClick }) => (
          <Menu.Item key={name} disabled={isDisabled ?? false} onClick={onClick}>
            {name}
          </Menu.Item>
        ))}
        {onDelete && (
          <>
            {actions.length > 0 && <Menu.Divider />}
            <Menu.Item c="var(--ph-bad)" onClick={onDelete}>
              {deleteLabel}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The last column of a table, as wide as the button of the menu. */
export const createActionsColumn = <T,>(cell: (row: T) => ReactNode): Column<T> => ({
  header: 'Actions',
  isHeaderHidden: true,
  align: 'right',
  width: 52,
  cell,
});
