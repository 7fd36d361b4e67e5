import { Skeleton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { messageOf } from '../../../api/errors.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import type { Tile, Window } from '../queries.ts';
import { TileContent } from '../tile-content.tsx';
import classes from '../tiles/tiles.module.css';
import { previewQuery } from './preview-query.ts';

/** So long after the last key is the server asked. */
const PAUSE_MS = 450;

export function usePreview(tile: Tile, window: Window) {
  const api = useApi();
  const { organizationId } = useSession();
  const [settled] = useDebouncedValue(tile, PAUSE_MS);
  const type = settled.series[0]?.type;
  return useQuery({
    ...previewQuery(api, organizationId, settled, window),
    enabled: type === 'time' || type === 'number' || type === 'table',
  });
}

/** A tile as it is being written. What only the stored tile can be asked for is shown over time. */
export function TilePreview({ tile, window }: { tile: Tile; window: Window }) {
  const { data, error, isFetching } = usePreview(tile, window);
  const type = tile.series[0]?.type;
  if (type === 'markdown')
    return <TileContent tile={tile} data={{ type, content: tile.series[0]?.content ?? '' }} zone={window.zone} />;
  if (type === 'search')
    return (
      <div className={classes.centre}>
        <p className={classes.quiet}>The rows show once the dashboard is saved.</p>
      </div>
    );
  if (error)
    return (
      <div className={classes.centre} role="status" data-testid="preview-error">
        <p className={classes.error}>{messageOf(error)}</p>
      </div>
    );
  if (!data) return <Skeleton height="100%" />;
  return (
    <div className={classes.column} style={{ opacity: isFetching ? 0.5 : 1 }} data-testid="preview">
      <div className={classes.fill}>
        <TileContent tile={tile} data={data} zone={window.zone} />
      </div>
      {type !== 'time' && (
        <div className={classes.foot}>
          Over time, to see that it finds something. The tile shows{' '}
          {type === 'number' ? 'one value' : 'one row for each group'} for the whole range.
        </div>
      )}
    </div>
  );
}
