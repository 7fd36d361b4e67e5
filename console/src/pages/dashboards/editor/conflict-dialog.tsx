import { Button, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { Timestamp } from '../../../parts/timestamp.tsx';
import { Differences } from '../differences.tsx';
import { type StoredDashboard, versionsQuery } from '../queries.ts';
import type { Draft } from './draft.ts';

interface Props {
  /** What the editing began with, and what is stored now. */
  base: Draft;
  theirs: StoredDashboard;
  isBusy: boolean;
  onTakeTheirs: () => void;
  onOverwrite: () => void;
  onKeepEditing: () => void;
}

/** Somebody else has saved meanwhile. Nothing is lost either way: their version stays among the versions. */
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
      title="Somebody else saved this dashboard"
      centered
      size="lg"
      transitionProps={{ duration: 0 }}
    >
      <Stack gap="md">
        <Text size="sm">
          It is no longer the one you began with
          {latest && (
            <>
              : <b>{latest.savedBy}</b> saved it <Timestamp at={latest.savedAt} show="ago" />
            </>
          )}
          . Theirs differs from what you began with:
        </Text>
        <Differences from={base} to={theirs.dashboard} />
        <Stack gap="xs">
          <Button variant="default" onClick={onKeepEditing} data-autofocus>
            Keep editing mine
          </Button>
          <Button variant="default" onClick={onTakeTheirs}>
            Take theirs, drop my changes
          </Button>
          <Button color="red.8" loading={isBusy} onClick={onOverwrite}>
            Overwrite theirs with mine
          </Button>
        </Stack>
        <Text size="xs" c="dimmed">
          Every saved state stays among the versions, theirs too.
        </Text>
      </Stack>
    </Modal>
  );
}
