import { Skeleton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { formatError } from '../../../api/errors.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import type { Tile, TimeWindow } from '../queries.ts';
import { TileContent } from '../tile-content.tsx';
import classes from '../tiles/tiles.module.css';
import { previewQuery } from './preview-query.ts';

/** So long after the last key is the server asked. */
const DEBOUNCE_MS = 450;

export function usePreview(tile: Tile, window: TimeWindow) {
  const api = useApi();
  const { organizationId } = useSession();
  const [settled] = useDebouncedValue(tile, DEBOUNCE_MS);
  return useQuery({
    ...previewQuery(api, organizationId, settled, window),
    enabled: settled.series[0]?.type !== 'markdown',
  });
}

/** A tile as it is being written, drawn as it will be. */
export function TilePreview({ tile, window }: { tile: Tile; window: TimeWindow }) {
  const { data, error, isFetching } = usePreview(tile, window);
  const type = tile.series[0]?.type;
  if (type === 'markdown')
    return <TileContent tile={tile} data={{ type, content: tile.series[0]?.content ?? '' }} zone={window.zone} />;
  if (error)
    return (
      <div className={classes.centre} role="status" data-testid="preview-error">
        <p className={classes.error}>{formatError(error)}</p>
      </div>
    );
  // What was drawn before the type was changed is no preview of this one.
  if (!data || data.type !== type) return <Skeleton height="100%" />;
  return (
    <div style={{ height: '100%', opacity: isFetching ? 0.5 : 1 }} data-testid="preview">
      <TileContent tile={tile} data={data} zone={window.zone} />
    </div>
  );
}
