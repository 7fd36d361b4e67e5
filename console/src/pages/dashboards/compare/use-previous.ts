import { useQuery } from '@tanstack/react-query';
import { formatError } from '../../../api/errors.ts';
import type { TileFilter } from '../../../api/generated.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { type Tile, type TileData, type TimeWindow, tileDataQuery } from '../queries.ts';
import { findPreviousRange, isComparable, type Previous } from './previous.ts';

interface Compared {
  dashboardId: string;
  tile: Tile;
  /** The current data; undefined while it is loading. */
  data: TileData | undefined;
  window: TimeWindow;
  filters: readonly TileFilter[];
}

/** Loads the period before the one that the tile shows. Undefined until it has been loaded. */
export function usePrevious(
  isOn: boolean,
  { dashboardId, tile, data, window, filters }: Compared,
): Previous | undefined {
  const api = useApi();
  const { organizationId } = useSession();
  const range = isOn && isComparable(tile) ? findPreviousRange(data, window) : undefined;
  const { start = 0, end = 0, granularity, shift = 0 } = range ?? {};
  const { data: found, error } = useQuery({
    ...tileDataQuery(
      api,
      organizationId,
      dashboardId,
      tile,
      { start, end, zone: window.zone },
      { granularity, filters },
    ),
    enabled: range !== undefined,
    placeholderData: undefined,
  });
  if (!range) return undefined;
  if (error) return { shift, error: formatError(error) };
  return found && { shift, data: found };
}
