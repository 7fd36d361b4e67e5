import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  GetTileDataInput,
  ListAnnotationsResult,
  Operations,
  TileFilter,
  UpdateDashboardBody,
} from '../../api/generated.ts';
import { createRequestQueue } from './request-queue.ts';
import type { Dashboard, Tile } from './tile-types.ts';
import type { Range } from './time-window/range.ts';

export type { Dashboard, Series, Tile, TileData, TileDataByType, TileType } from './tile-types.ts';
export type DashboardBody = UpdateDashboardBody;

/** A dashboard with metadata from the response headers. */
export interface StoredDashboard {
  dashboard: Dashboard;
  /** For `If-Match`. */
  etag: string;
  /** The file in the dashboards folder. A dashboard from a file is read-only. */
  provisionedFrom: string | undefined;
}

export const dashboardsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'dashboards'],
    queryFn: async ({ signal }) => (await api.listDashboards({ format: 'series' }, { signal })) as Dashboard[],
  });

export const dashboardQuery = (api: Operations, organizationId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'dashboards', id],
    queryFn: ({ signal }) => fetchDashboard(api, id, signal),
  });

export async function fetchDashboard(api: Operations, id: string, signal?: AbortSignal): Promise<StoredDashboard> {
  const headerValues = { etag: '', provisionedFrom: undefined as string | undefined };
  const dashboard = await api.getDashboard(
    { id, format: 'series' },
    {
      signal,
      onResponse({ headers }) {
        headerValues.etag = headers.get('etag') ?? '';
        const file = headers.get('x-pilothouse-provisioned');
        headerValues.provisionedFrom = file === null ? undefined : decodeURIComponent(file);
      },
    },
  );
  return { dashboard: dashboard as Dashboard, ...headerValues };
}

export const versionsQuery = (api: Operations, organizationId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'dashboards', id, 'versions'],
    queryFn: ({ signal }) => api.listDashboardVersions({ id }, { signal }),
    staleTime: 0,
  });

/** Versions are immutable. */
export const versionQuery = (api: Operations, organizationId: string, id: string, version: number) =>
  queryOptions({
    queryKey: [organizationId, 'dashboards', id, 'versions', version],
    queryFn: ({ signal }) => api.getDashboardVersion({ id, version: String(version) }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Matches the limit of concurrent queries per credential on the server. */
const MAX_CONCURRENT_QUERIES = 6;
export const tileRequests = createRequestQueue(MAX_CONCURRENT_QUERIES);

export interface TimeWindow extends Range {
  zone: string;
}

interface TileDataOptions {
  points?: number | undefined;
  granularity?: GetTileDataInput['granularity'] | undefined;
  /** Conditions of the viewer. */
  filters?: readonly TileFilter[];
}

/** Data of a stored tile. Cached briefly: an auto-refreshing page requests a new range every time. */
export const tileDataQuery = (
  api: Operations,
  organizationId: string,
  dashboardId: string,
  tile: Tile,
  { start, end, zone }: TimeWindow,
  { points, granularity, filters = [] }: TileDataOptions,
) =>
  queryOptions({
    queryKey: [
      organizationId,
      'tile-data',
      dashboardId,
      tile.id,
      JSON.stringify([tile.series, tile.asRatio, tile.config]),
      start,
      end,
      zone,
      points,
      granularity,
      JSON.stringify(filters),
    ],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () =>
        api.getTileData(
          {
            id: dashboardId,
            tileId: tile.id,
            start: String(start),
            end: String(end),
            timezone: zone,
            ...(points === undefined ? {} : { points: String(points) }),
            ...(granularity && { granularity }),
            ...(filters.length > 0 && { filters: JSON.stringify(filters) }),
          },
          { signal },
        ),
      ),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 20_000,
  });

/** Read-only links to a dashboard. */
export const linksQuery = (api: Operations, organizationId: string, id: string) =>
  queryOptions({
    queryKey: [organizationId, 'dashboards', id, 'links'],
    queryFn: ({ signal }) => api.listDashboardLinks({ id }, { signal }),
    staleTime: 0,
  });

export type Annotation = ListAnnotationsResult[number];

/** Events in the range that charts show. Refreshes with the data of tiles. */
export const annotationsQuery = (
  api: Operations,
  organizationId: string,
  dashboardId: string,
  { start, end }: TimeWindow,
) =>
  queryOptions({
    queryKey: [organizationId, 'tile-data', 'annotations', dashboardId, start, end],
    queryFn: ({ signal }) => api.listAnnotations({ start: String(start), end: String(end), dashboardId }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 20_000,
  });
