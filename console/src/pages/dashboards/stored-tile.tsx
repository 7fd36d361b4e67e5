import { useIntersection, useMergedRef } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { type Tile, type TimeWindow, tileDataQuery } from './queries.ts';
import { TileBody } from './tile-body.tsx';
import { TileContent } from './tile-content.tsx';
import { TileFrame } from './tile-frame.tsx';
import { usePointTarget } from './use-point-target.ts';

interface Props {
  dashboardId: string;
  tile: Tile;
  window: TimeWindow;
  actions?: ReactNode;
  isMovable?: boolean;
  onZoom?: ((start: number, end: number) => void) | undefined;
}

/** Loads tiles shortly before they scroll into view. */
const PRELOAD_MARGIN = '160px 0px';

/** A saved tile. Loads its data when it scrolls into view; old data stays dimmed until new data arrives. */
export function StoredTile({ dashboardId, tile, window, actions, isMovable = false, onZoom }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { ref, entry } = useIntersection({ rootMargin: PRELOAD_MARGIN });
  const target = usePointTarget(tile);
  const bothRefs = useMergedRef(ref, target.ref);
  const { data, error, isFetching, refetch, isPlaceholderData } = useQuery({
    ...tileDataQuery(api, organizationId, dashboardId, tile, window, target.points),
    enabled: (entry?.isIntersecting ?? false) && target.isKnown,
  });
  // After a change of type, previous data does not fit the tile.
  const shown = data?.type === tile.series[0]?.type ? data : undefined;
  return (
    <TileFrame
      name={tile.name}
      actions={actions}
      isMovable={isMovable}
      isReloading={shown !== undefined && (isFetching || isPlaceholderData)}
      ref={bothRefs}
    >
      <TileBody error={error} isFetching={isFetching} onRetry={() => void refetch()}>
        {shown && <TileContent tile={tile} data={shown} zone={window.zone} onZoom={onZoom} />}
      </TileBody>
    </TileFrame>
  );
}
