import { Button, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { Confirm } from '../../parts/confirm-dialog.tsx';
import { Failure } from '../../parts/error-notice.tsx';
import { plural } from '../../parts/format.ts';
import { Moment } from '../../parts/timestamp.tsx';
import { tellDone } from '../../parts/notifications.ts';
import classes from './dashboard.module.css';
import { Differences } from './differences.tsx';
import { type Dashboard, type StoredDashboard, versionQuery, versionsQuery, type Window } from './queries.ts';
import { VersionPreview } from './version-preview.tsx';

interface Props {
  stored: StoredDashboard;
  window: Window;
  canRestore: boolean;
  onClose: () => void;
}

/** Every state that was ever saved, newest first. */
export default function VersionsDrawer({ stored: { dashboard, etag }, window, canRestore, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(versionsQuery(api, organizationId, dashboard.id));
  const [asked, setAsked] = useState<number>();
  const [looked, setLooked] = useState<number>();
  const versions = data?.toSorted((one, other) => other.version - one.version);
  const restore = async () => {
    await api.restoreDashboardVersion({ id: dashboard.id, version: String(asked), 'if-match': etag });
    await queries.invalidateQueries({ queryKey: [organizationId, 'dashboards'] });
    tellDone(`Version ${asked} of ${dashboard.name} is back`);
    onClose();
  };
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      closeOnEscape={asked === undefined && looked === undefined}
      title="Versions"
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {error && !versions && <Failure error={error} title="The versions are missing" retry={() => refetch()} />}
      {!versions && !error && <Skeleton height={200} />}
      <ol className={classes.versions}>
        {versions?.map(({ version, savedAt, savedBy, name, tiles }, index) => (
          <li key={version}>
            <Stack gap={0} miw={0}>
              <Text size="sm" fw={600}>
                Version {version}
                {index === 0 && ' · the present one'}
              </Text>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {name}, {plural(tiles, 'tile')}
              </Text>
              <Text size="xs" c="dimmed">
                {savedBy}, <Moment at={savedAt} />
              </Text>
            </Stack>
            {index > 0 && (
              <Group gap={6} wrap="nowrap">
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => setLooked(version)}
                  aria-label={`Look at version ${version}`}
                >
                  Look
                </Button>
                {canRestore && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => setAsked(version)}
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
      {looked !== undefined && (
        <VersionPreview
          present={dashboard}
          version={looked}
          window={window}
          isAsking={asked !== undefined}
          onRestore={canRestore ? () => setAsked(looked) : undefined}
          onClose={() => setLooked(undefined)}
        />
      )}
      {/* Made when it is asked for, so that it lies above the version. */}
      {asked !== undefined && (
        <Confirm
          opened
          title={`Restore version ${asked}?`}
          action="Restore"
          onConfirm={restore}
          onClose={() => setAsked(undefined)}
        >
          <b>{dashboard.name}</b> becomes what it was then. The present state stays among the versions.
          <Changes present={dashboard} version={asked} />
        </Confirm>
      )}
    </Drawer>
  );
}

/** What restoring would do; the answer is not worth waiting for. */
function Changes({ present, version }: { present: Dashboard; version: number }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery(versionQuery(api, organizationId, present.id, version));
  return data ? <Differences from={present} to={data.dashboard} /> : null;
}
