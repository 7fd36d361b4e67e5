import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
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

interface PreviousState {
  previous: Previous | undefined;
  /** It is that of the data before: the tile keeps its shape while it is loading. */
  isOld: boolean;
}

/** Loads the period before the one that the tile shows. */
export function usePrevious(isOn: boolean, { dashboardId, tile, data, window, filters }: Compared): PreviousState {
  const api = useApi();
  const { organizationId } = useSession();
  const isComparing = isOn && isComparable(tile);
  const range = isComparing ? findPreviousRange(data, window) : undefined;
  const { start = 0, end = 0, granularity, shift = 0 } = range ?? {};
  const past = { start, end, zone: window.zone };
  const { data: found, error } = useQuery({
    ...tileDataQuery(api, organizationId, dashboardId, tile, past, { granularity, filters }),
    enabled: range !== undefined,
    placeholderData: undefined,
  });
  const last = useRef<Previous>(undefined);
  if (!isComparing) last.current = undefined;
  else if (range && error) last.current = { shift, error: formatError(error) };
  else if (range && found) last.current = { shift, data: found };
  else return { previous: last.current, isOld: last.current !== undefined };
  return { previous: last.current, isOld: false };
}
