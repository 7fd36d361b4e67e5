import { useIntersection, useMergedRef } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import type { Previous } from '../compare/previous.ts';
import { usePrevious } from '../compare/use-previous.ts';
import { usePointTarget } from '../drill-down/use-point-target.ts';
import { findErrorWithin } from '../field-errors.ts';
import { TileFiltersContext } from '../filters/tile-filters-context.ts';
import { chooseTileFilters, listFilterNotes, type ViewFilter } from '../filters/view-filters.ts';
import { type Tile, type TileData, type TimeWindow, tileDataQuery } from '../queries.ts';
import { TileBody } from './tile-body.tsx';
import { TileContent } from './tile-content.tsx';
import { TileFrame } from './tile-frame.tsx';

interface Props {
  dashboardId: string;
  tile: Tile;
  window: TimeWindow;
  actions?: ReactNode | ((shown: TileData | undefined, previous: Previous | undefined) => ReactNode);
  isMovable?: boolean;
  onZoom?: ((start: number, end: number) => void) | undefined;
  /** Conditions of the viewer for all tiles. */
  filters?: readonly ViewFilter[];
  /** Shows the previous period, too. */
  isComparing?: boolean;
  /** Called with the reason if a condition is invalid. */
  onFilterError?: ((reason: string) => void) | undefined;
}

const NO_FILTERS: readonly ViewFilter[] = [];

/** Loads tiles shortly before they scroll into view. */
const PRELOAD_MARGIN = '160px 0px';

/** A saved tile. Loads its data when it scrolls into view; old data stays dimmed until new data arrives. */
export function StoredTile({
  dashboardId,
  tile,
  window,
  actions,
  isMovable = false,
  onZoom,
  filters = NO_FILTERS,
  isComparing = false,
  onFilterError,
}: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { ref, entry } = useIntersection({ rootMargin: PRELOAD_MARGIN });
  const target = usePointTarget(tile);
  const bothRefs = useMergedRef(ref, target.ref);
  const chosen = chooseTileFilters(tile, filters);
  const conditions = chosen.sent.map(({ condition }) => condition);
  const { data, error, isFetching, refetch, isPlaceholderData } = useQuery({
    ...tileDataQuery(api, organizationId, dashboardId, tile, window, { points: target.points, filters: conditions }),
    enabled: (entry?.isIntersecting ?? false) && target.isKnown,
  });
  // After a change of type, previous data does not fit the tile.
  const shown = data?.type === tile.series[0]?.type ? data : undefined;
  const { previous, isOld } = usePrevious(isComparing || tile.config?.compareToPreviousPeriod === true, {
    dashboardId,
    tile,
    data: isPlaceholderData ? undefined : shown,
    window,
    filters: conditions,
  });
  const filterError = findErrorWithin(error, 'filters');
  useEffect(() => {
    if (filterError !== undefined) onFilterError?.(filterError);
  }, [filterError, onFilterError]);
  const unapplied = shown && 'unappliedFilters' in shown ? shown.unappliedFilters : undefined;
  // A filter that the server could not apply does not decide which rows a value has.
  const applied = conditions.filter((_, index) => !unapplied?.some(({ filter }) => filter === index));
  return (
    <TileFiltersContext value={applied}>
      <TileFrame
        name={tile.name}
        actions={typeof actions === 'function' ? actions(shown, previous) : actions}
        notes={listFilterNotes(chosen, unapplied)}
        isMovable={isMovable}
        isReloading={shown !== undefined && (isFetching || isPlaceholderData || isOld)}
        ref={bothRefs}
      >
        <TileBody error={error} isFetching={isFetching} onRetry={() => void refetch()}>
          {shown && <TileContent tile={tile} data={shown} zone={window.zone} onZoom={onZoom} previous={previous} />}
        </TileBody>
      </TileFrame>
    </TileFiltersContext>
  );
}
