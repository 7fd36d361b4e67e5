import { Button, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import classes from '../dashboard.module.css';
import { Differences } from '../differences.tsx';
import { TilePreview } from '../editor/tile-preview.tsx';
import { TileFrame } from '../grid/tile-frame.tsx';
import { TileGrid } from '../grid/tile-grid.tsx';
import { type Dashboard, type Tile, type TimeWindow, versionQuery } from '../queries.ts';

interface Props {
  /** The current dashboard. */
  current: Dashboard;
  version: number;
  window: TimeWindow;
  /** The restore confirmation is open. */
  isConfirming: boolean;
  onRestore: (() => void) | undefined;
  onClose: () => void;
}

/** Renders a version with current data and lists its differences. */
export function VersionPreview({ current, version, window, isConfirming, onRestore, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(versionQuery(api, organizationId, current.id, version));
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Version ${version}${data ? ` · ${data.name}` : ''}`}
      fullScreen
      closeOnEscape={!isConfirming}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close version' }}
    >
      {error && !data && <ErrorNotice error={error} title="Could not load the version" retry={() => refetch()} />}
      {!data && !error && <Skeleton height={400} />}
      {data && (
        <>
          <div className={classes.versionHead}>
            <Stack gap={4}>
              <Text size="sm" c="dimmed">
                Saved by {data.savedBy}, <Timestamp at={data.savedAt} />. Differences from the current version:
              </Text>
              <Differences from={current} to={data.dashboard} />
            </Stack>
            {onRestore && <Button onClick={onRestore}>Restore this version</Button>}
          </div>
          {data.dashboard.tiles.length === 0 && <EmptyState title="No tiles">This version has no tiles.</EmptyState>}
          <TileGrid tiles={data.dashboard.tiles}>
            {(tile) => (
              <TileFrame name={tile.name}>
                <VersionTile tile={tile} window={window} />
              </TileFrame>
            )}
          </TileGrid>
        </>
      )}
    </Modal>
  );
}

/** Loads its data when it scrolls into view. */
function VersionTile({ tile, window }: { tile: Tile; window: TimeWindow }) {
  const { ref, entry } = useIntersection();
  return (
    <div ref={ref} style={{ height: '100%' }}>
      {entry?.isIntersecting && <TilePreview tile={tile} window={window} />}
    </div>
  );
}
