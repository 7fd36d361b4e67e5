import { useIntersection, useMergedRef } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';
import { usePointTarget } from '../dashboards/drill-down/use-point-target.ts';
import { chooseTileFilters, listFilterNotes, type ViewFilter } from '../dashboards/filters/view-filters.ts';
import { TileBody } from '../dashboards/grid/tile-body.tsx';
import { TileContent } from '../dashboards/grid/tile-content.tsx';
import { TileFrame } from '../dashboards/grid/tile-frame.tsx';
import type { Tile, TimeWindow } from '../dashboards/queries.ts';
import { SearchTile } from '../dashboards/tiles/rows/search-tile.tsx';
import { sharedTileQuery } from './queries.ts';

interface Props {
  api: Operations;
  secret: string;
  tile: Tile;
  /** Applied by the server. */
  filters: readonly ViewFilter[];
  window: TimeWindow;
  onZoom: (start: number, end: number) => void;
}

/** A tile without links to other pages. Loads its data when it scrolls into view. */
export function LinkedTile({ api, secret, tile, filters, window, onZoom }: Props) {
  const { ref, entry } = useIntersection({ rootMargin: '160px 0px' });
  const target = usePointTarget(tile);
  const bothRefs = useMergedRef(ref, target.ref);
  const { data, error, isFetching, refetch, isPlaceholderData } = useQuery({
    ...sharedTileQuery(api, secret, tile, window, target.points),
    enabled: (entry?.isIntersecting ?? false) && target.isKnown,
  });
  const isReloading = data !== undefined && (isFetching || isPlaceholderData);
  const unapplied = data && 'unappliedFilters' in data ? data.unappliedFilters : undefined;
  return (
    <TileFrame
      name={tile.name}
      notes={listFilterNotes(chooseTileFilters(tile, filters), unapplied)}
      isReloading={isReloading}
      ref={bothRefs}
    >
      <TileBody error={error} isFetching={isFetching} onRetry={() => void refetch()}>
        {data &&
          (data.type === 'search' ? (
            <SearchTile series={undefined} data={data} zone={window.zone} />
          ) : (
            <TileContent tile={tile} data={data} zone={window.zone} onZoom={onZoom} />
          ))}
      </TileBody>
    </TileFrame>
  );
}
