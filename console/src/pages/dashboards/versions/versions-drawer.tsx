import { Button, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { plural } from '../../../parts/format/format.ts';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import classes from '../dashboard.module.css';
import { Differences } from '../differences.tsx';
import { type Dashboard, type StoredDashboard, type TimeWindow, versionQuery, versionsQuery } from '../queries.ts';
import { VersionPreview } from './version-preview.tsx';

interface Props {
  stored: StoredDashboard;
  window: TimeWindow;
  canRestore: boolean;
  onClose: () => void;
}

/** All saved versions, newest first. */
export default function VersionsDrawer({ stored: { dashboard, etag }, window, canRestore, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(versionsQuery(api, organizationId, dashboard.id));
  const [restoredVersion, setRestoredVersion] = useState<number>();
  const [viewedVersion, setViewedVersion] = useState<number>();
  const versions = data?.toSorted((one, other) => other.version - one.version);
  const restore = async () => {
    await api.restoreDashboardVersion({ id: dashboard.id, version: String(restoredVersion), 'if-match': etag });
    await queries.invalidateQueries({ queryKey: [organizationId, 'dashboards'] });
    notifySuccess(`Restored version ${restoredVersion} of ${dashboard.name}`);
    onClose();
  };
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      closeOnEscape={restoredVersion === undefined && viewedVersion === undefined}
      title="Version history"
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {error && !versions && <ErrorNotice error={error} title="Could not load versions" retry={() => refetch()} />}
      {!versions && !error && <Skeleton height={200} />}
      <ol className={classes.versions}>
        {versions?.map(({ version, savedAt, savedBy, name, tiles }, index) => (
          <li key={version}>
            <Stack gap={0} miw={0}>
              <Text size="sm" fw={600}>
                Version {version}
                {index === 0 && ' · Current'}
              </Text>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {name}, {plural(tiles, 'tile')}
              </Text>
              <Text size="xs" c="dimmed">
                {savedBy}, <Timestamp at={savedAt} />
              </Text>
            </Stack>
            {index > 0 && (
              <Group gap={6} wrap="nowrap">
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => setViewedVersion(version)}
                  aria-label={`View version ${version}`}
                >
                  View
                </Button>
                {canRestore && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => setRestoredVersion(version)}
                    aria-label={`Restore version ${version}`}
                  >
                    Restore
                  </Button>
                )}
              </Group>
            )}
          </li>
        ))}
      </ol>
      {viewedVersion !== undefined && (
        <VersionPreview
          current={dashboard}
          version={viewedVersion}
          window={window}
          isConfirming={restoredVersion !== undefined}
          onRestore={canRestore ? () => setRestoredVersion(viewedVersion) : undefined}
          onClose={() => setViewedVersion(undefined)}
        />
      )}
      {/* Mounted on demand, so that it is stacked above the version preview. */}
      {restoredVersion !== undefined && (
        <ConfirmDialog
          opened
          title={`Restore version ${restoredVersion}?`}
          action="Restore"
          onConfirm={restore}
          onClose={() => setRestoredVersion(undefined)}
        >
          <b>{dashboard.name}</b> will be replaced by this version. The current version stays in the version history.
          <Changes current={dashboard} version={restoredVersion} />
        </ConfirmDialog>
      )}
    </Drawer>
  );
}

/** The effect of restoring; optional, so nothing is shown while it loads. */
function Changes({ current, version }: { current: Dashboard; version: number }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery(versionQuery(api, organizationId, current.id, version));
  return data ? <Differences from={current} to={data.dashboard} /> : null;
}
