import { Skeleton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { formatError } from '../../../api/errors.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { type PointTarget, usePointTarget } from '../drill-down/use-point-target.ts';
import { TileContent } from '../grid/tile-content.tsx';
import type { Tile, TimeWindow } from '../queries.ts';
import classes from '../tiles/tiles.module.css';
import { previewQuery } from './preview-query.ts';

const DEBOUNCE_MS = 450;
/** For a query that only checks the tile. */
const NO_TARGET: PointTarget = { points: undefined, isKnown: true };

export function usePreview(tile: Tile, window: TimeWindow, { points, isKnown }: PointTarget = NO_TARGET) {
  const api = useApi();
  const { organizationId } = useSession();
  const [debounced] = useDebouncedValue(tile, DEBOUNCE_MS);
  return useQuery({
    ...previewQuery(api, organizationId, debounced, window, points),
    enabled: isKnown && debounced.series[0]?.type !== 'markdown',
  });
}

/** Renders an unsaved tile as it will look when saved. */
export function TilePreview({ tile, window }: { tile: Tile; window: TimeWindow }) {
  const target = usePointTarget(tile);
  return (
    <div ref={target.ref} style={{ height: '100%' }}>
      <PreviewContent tile={tile} window={window} target={target} />
    </div>
  );
}

function PreviewContent({ tile, window, target }: { tile: Tile; window: TimeWindow; target: PointTarget }) {
  const { data, error, isFetching } = usePreview(tile, window, target);
  const type = tile.series[0]?.type;
  if (type === 'markdown')
    return <TileContent tile={tile} data={{ type, content: tile.series[0]?.content ?? '' }} zone={window.zone} />;
  if (error)
    return (
      <div className={classes.center} role="status" data-testid="preview-error">
        <p className={classes.error}>{formatError(error)}</p>
      </div>
    );
  // Ignore data of the previous tile type.
  if (!data || data.type !== type) return <Skeleton height="100%" />;
  return (
    <div style={{ height: '100%', opacity: isFetching ? 0.5 : 1 }} data-testid="preview">
      <TileContent tile={tile} data={data} zone={window.zone} />
    </div>
  );
}
