import { ActionIcon, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { ActivityIcon, DotsIcon, DownloadIcon, TrashIcon } from '../../parts/layout/icons.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { exportDashboard } from './files.ts';
import { LinkIcon } from './icons.tsx';
import { dashboardsQuery, type StoredDashboard, type TimeWindow } from './queries.ts';

const VersionsDrawer = lazy(() => import('./versions/versions-drawer.tsx'));
const LinksDialog = lazy(() => import('./links-dialog.tsx'));

interface Props {
  stored: StoredDashboard;
  window: TimeWindow;
  canChange: boolean;
}

/** Version history, links, export and deletion. */
export function DashboardMenu({ stored, window, canChange }: Props) {
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'versions' | 'links' | 'delete'>();
  const { dashboard, etag } = stored;
  const close = () => setDialog(undefined);
  const remove = async () => {
    await api.deleteDashboard({ id: dashboard.id, 'if-match': etag });
    await queries.invalidateQueries({ queryKey: dashboardsQuery(api, organizationId).queryKey, exact: true });
    notifySuccess(`Deleted dashboard ${dashboard.name}`);
    await navigate({ to: '/dashboards' });
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="More actions">
            <DotsIcon size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<ActivityIcon size={15} />} onClick={() => setDialog('versions')}>
            Version history
          </Menu.Item>
          <Menu.Item leftSection={<DownloadIcon size={15} />} onClick={() => exportDashboard(dashboard)}>
            Export as JSON
          </Menu.Item>
          {canChangeDashboards && (
            <Menu.Item leftSection={<LinkIcon size={15} />} onClick={() => setDialog('links')}>
              Read-only links
            </Menu.Item>
          )}
          {canChange && (
            <Menu.Item leftSection={<TrashIcon size={15} />} color="var(--ph-bad)" onClick={() => setDialog('delete')}>
              Delete
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'versions' && (
        <Suspense>
          <VersionsDrawer stored={stored} window={window} canRestore={canChange} onClose={close} />
        </Suspense>
      )}
      {dialog === 'links' && (
        <Suspense>
          <LinksDialog dashboard={dashboard} onClose={close} />
        </Suspense>
      )}
      <ConfirmDialog
        opened={dialog === 'delete'}
        title="Delete this dashboard?"
        action="Delete"
        isDangerous
        onConfirm={remove}
        onClose={close}
      >
        <b>{dashboard.name}</b> will be deleted for everyone. Its version history is kept; restore a version through the
        API or with <code>pilothouse dashboard restore</code>.
      </ConfirmDialog>
    </>
  );
}
