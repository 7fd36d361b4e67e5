import { Button, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { Differences } from '../differences.tsx';
import { type Dashboard, type StoredDashboard, versionsQuery } from '../queries.ts';

interface Props {
  /** The version the edit started from, and the stored one. */
  base: Dashboard;
  theirs: StoredDashboard;
  isBusy: boolean;
  onTakeTheirs: () => void;
  onOverwrite: () => void;
  onKeepEditing: () => void;
}

/** Shown if another client saved the dashboard in the meantime. All versions stay in the history. */
export function ConflictDialog({ base, theirs, isBusy, onTakeTheirs, onOverwrite, onKeepEditing }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const latest = useQuery(versionsQuery(api, organizationId, theirs.dashboard.id)).data?.reduce((one, other) =>
    other.version > one.version ? other : one,
  );
  return (
    <Modal
      opened
      onClose={onKeepEditing}
      title="This dashboard has changed"
      centered
      size="lg"
      transitionProps={{ duration: 0 }}
    >
      <Stack gap="md">
        <Text size="sm">
          {latest ? (
            <>
              <b>{latest.savedBy}</b> saved a new version <Timestamp at={latest.savedAt} show="ago" />
            </>
          ) : (
            'A new version was saved'
          )}{' '}
          while you were editing. Changes in that version:
        </Text>
        <Differences from={base} to={theirs.dashboard} />
        <Stack gap="xs">
          <Button variant="default" onClick={onKeepEditing} data-autofocus>
            Keep editing
          </Button>
          <Button variant="default" onClick={onTakeTheirs}>
            Discard my changes
          </Button>
          <Button color="red.8" loading={isBusy} onClick={onOverwrite}>
            Overwrite with my changes
          </Button>
        </Stack>
        <Text size="xs" c="dimmed">
          All versions stay in the version history.
        </Text>
      </Stack>
    </Modal>
  );
}
