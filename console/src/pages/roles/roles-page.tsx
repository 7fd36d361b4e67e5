import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { keysQuery, rolesQuery } from '../../api/queries.ts';
import type { Role } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useDialogInUrl } from '../../app/use-dialog-in-url.ts';
import { plural } from '../../parts/format/format.ts';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { RoleDialog } from './role-dialog.tsx';
import { type RoleAction, RoleTable } from './role-table.tsx';

/** System and custom roles: list, create, edit and delete, with the keys that have them. */
export function RolesPage() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(rolesQuery(api, organizationId));
  const { data: keys = [] } = useQuery({ ...keysQuery(api, organizationId), enabled: can('openapiKeyGetList') });
  const [isCreating, setIsCreating] = useDialogInUrl('create');
  const [chosen, setChosen] = useState<{ role: Role; action: RoleAction }>();
  const close = () => setChosen(undefined);
  const remove = async ({ id, name }: Role) => {
    await api.organizationRoleDelete({ organizationId, roleId: id });
    notifySuccess(`Deleted role ${name}`);
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  const custom = data?.filter(({ type }) => type === 'custom').length ?? 0;
  const create = can('organizationRolePost') && (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
      Create role
    </Button>
  );
  return (
    <Page title="Roles" subtitle={data ? plural(custom, 'custom role') : 'Loading…'} actions={create}>
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load roles" retry={() => refetch()} />
      ) : (
        <Panel flush>
          <RoleTable
            roles={data}
            keyNames={new Map(keys.map(({ id, name }) => [id, name]))}
            {...(can('organizationRolePatch') ? { onAction: (role, action) => setChosen({ role, action }) } : {})}
          />
        </Panel>
      )}
      {isCreating && <RoleDialog target={undefined} roles={data ?? []} onClose={() => setIsCreating(false)} />}
      {chosen?.action === 'edit' && <RoleDialog target={chosen.role} roles={data ?? []} onClose={close} />}
      {chosen?.action === 'delete' && (
        <ConfirmDialog
          opened
          isDangerous
          title="Delete this role?"
          action="Delete"
          onConfirm={() => remove(chosen.role)}
          onClose={close}
        >
          The role <b>{chosen.role.name}</b> is removed. A role that keys or members have cannot be deleted.
        </ConfirmDialog>
      )}
    </Page>
  );
}
