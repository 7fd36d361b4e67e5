import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';
import { type Tile, type TimeWindow, tileRequests } from '../dashboards/queries.ts';

/** Of the query keys: a visitor has no organization. */
export const SHARED = 'shared';

export const sharedDashboardQuery = (api: Operations, secret: string) =>
  queryOptions({
    queryKey: [SHARED, secret],
    queryFn: ({ signal }) => api.getSharedDashboard({}, { signal }),
    retry: false,
  });

/** The server takes the queries of the tile from the stored dashboard. */
export const sharedTileQuery = (
  api: Operations,
  secret: string,
  tile: Tile,
  { start, end, zone }: TimeWindow,
  points: number | undefined,
) =>
  queryOptions({
    queryKey: [SHARED, 'tile-data', secret, tile.id, start, end, zone, points],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () =>
        api.getSharedTileData(
          {
            tileId: tile.id,
            start: String(start),
            end: String(end),
            timezone: zone,
            ...(points === undefined ? {} : { points: String(points) }),
          },
          { signal },
        ),
      ),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 20_000,
  });
