import { Button, Drawer, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Failure } from '../../parts/failure.tsx';
import { plural } from '../../parts/format.ts';
import { Moment } from '../../parts/moment.tsx';
import { tellDone } from '../../parts/toast.ts';
import classes from './dashboard.module.css';
import { type StoredDashboard, versionsQuery } from './queries.ts';

interface Props {
  stored: StoredDashboard;
  canRestore: boolean;
  onClose: () => void;
}

/** Every state that was ever saved, newest first. */
export default function VersionsDrawer({ stored: { dashboard, etag }, canRestore, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(versionsQuery(api, organizationId, dashboard.id));
  const [asked, setAsked] = useState<number>();
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
            {canRestore && index > 0 && (
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => setAsked(version)}
                aria-label={`Restore version ${version}`}
              >
                Restore
              </Button>
            )}
          </li>
        ))}
      </ol>
      <Confirm
        opened={asked !== undefined}
        title={`Restore version ${asked}?`}
        action="Restore"
        onConfirm={restore}
        onClose={() => setAsked(undefined)}
      >
        <b>{dashboard.name}</b> becomes what it was then. The present state stays among the versions.
      </Confirm>
    </Drawer>
  );
}
