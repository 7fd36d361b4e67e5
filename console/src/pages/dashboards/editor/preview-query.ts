import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../../api/generated.ts';
import { type Tile, type TimeWindow, tileRequests } from '../queries.ts';

/** Data of an unsaved tile. */
export const previewQuery = (
  api: Operations,
  organizationId: string,
  { series, asRatio, config }: Tile,
  { start, end, zone }: TimeWindow,
  points: number | undefined,
) =>
  queryOptions({
    queryKey: [
      organizationId,
      'tile-data',
      'preview',
      JSON.stringify([series, asRatio, config]),
      start,
      end,
      zone,
      points,
    ],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () =>
        api.drawTile(
          { body: { series, asRatio, ...(config && { config }), start, end, timezone: zone, points } },
          { signal },
        ),
      ),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 20_000,
    retry: false,
  });
