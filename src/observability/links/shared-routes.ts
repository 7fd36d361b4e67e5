import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { type Clock, isoTime } from '../../kernel/time/clock.ts';
import type { HourlyCounts } from '../../management/audit/hourly-counts.ts';
import type { AttemptLimit } from '../../platform/http/limits/attempt-limit.ts';
import { tooManyRequests } from '../../platform/http/limits/rate-limit.ts';
import type { RateLimiter } from '../../platform/http/limits/rate-window.ts';
import { requireSameSite } from '../../platform/http/requests/cross-site.ts';
import { abortOnDisconnect } from '../../platform/http/requests/disconnect.ts';
import { NoQuery, type Routes } from '../../platform/http/requests/validation.ts';
import { compressResponse } from '../../platform/http/responses/compression.ts';
import { DashboardFailure, dashboardResponse } from '../../platform/http/responses/envelopes.ts';
import type { Charts } from '../charts/charts.ts';
import { TileResponse } from '../charts/schema.ts';
import { parseRange } from '../charts/time-range.ts';
import { parseDashboard } from '../dashboards/dashboard.ts';
import type { Dashboards } from '../dashboards/dashboards.ts';
import { type Link, UNKNOWN_LINK } from './link.ts';
import type { Links } from './links.ts';
import { listSavedFilters } from './saved-filters.ts';
import { LINK_HEADER, LinkHeaders, SharedDashboard, SharedTilePath, SharedTileQuery } from './schema.ts';

interface Options {
  links: Links;
  dashboards: Pick<Dashboards, 'get'>;
  charts: Pick<Charts, 'queryTile'>;
  hourlyCounts: Pick<HourlyCounts, 'count'>;
  clock: Clock;
  attempts: AttemptLimit;
  /** Requests by link. */
  requests: RateLimiter | undefined;
}

const PATH = '/console/shared-dashboard';
const tags = ['Console'];
const security = [{ link: [] }];
const SEARCH_ROWS = 100;

/** What the visitor of a link can read: its dashboard and the data of its tiles. The link decides which dashboard. */
export function sharedRoutes({ links, dashboards, charts, hourlyCounts, clock, attempts, requests }: Options): Routes {
  /** A wrong secret counts as a failed attempt of the address. */
  async function openLink(request: FastifyRequest, secret: string): Promise<Link> {
    try {
      const link = await attempts.run(request.clientAddress, `link ${secret}`, () => links.open(secret));
      request.identity = toIdentity(link);
      const status = await requests?.take(link.id);
      if (status && !status.isAllowed) throw tooManyRequests(status, 'Too many requests with this link');
      return link;
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthorized') throw new AppError('not_found', UNKNOWN_LINK);
      throw error;
    }
  }

  const readDashboard = async ({ organizationId, dashboardId }: Link) =>
    parseDashboard(await dashboards.get(organizationId, dashboardId).catch(hideMissing));

  return (app) => {
    const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('cache-control', 'no-store');
      requireSameSite(request);
    };

    app.get(
      PATH,
      {
        config: { operation: 'getSharedDashboard' },
        onRequest,
        schema: {
          tags,
          summary: 'Get the dashboard of a link',
          description:
            'Requires the secret of a link to a dashboard. Wrong secrets count as failed attempts of the address.',
          security,
          headers: LinkHeaders,
          querystring: NoQuery,
          response: { ...dashboardResponse(SharedDashboard), 404: { ...DashboardFailure, description: UNKNOWN_LINK } },
        },
      },
      async (request) => {
        const link = await openLink(request as never, request.headers[LINK_HEADER]);
        const { organizationId, id: subjectId, name } = link;
        const address = request.clientAddress;
        hourlyCounts.count({ organizationId, type: 'dashboard_link_view', subjectId, name, reason: 'view', address });
        return { data: { dashboard: await readDashboard(link), expireAt: isoTime(link.expireAt) } };
      },
    );

    app.get(
      `${PATH}/tiles/:tileId/data`,
      {
        config: { operation: 'getSharedTileData' },
        onRequest,
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Get the data of a tile of a link',
          description:
            'Runs the queries of a tile of the dashboard of the link over any time range, with the saved filters of the dashboard.',
          security,
          headers: LinkHeaders,
          params: SharedTilePath,
          querystring: SharedTileQuery,
          response: dashboardResponse(TileResponse),
        },
      },
      async (request, reply) => {
        const link = await openLink(request as never, request.headers[LINK_HEADER]);
        const { points, timezone = 'UTC', ...range } = request.query;
        const view = {
          ...parseRange(clock.now(), range),
          granularity: 'auto' as const,
          points: points === undefined ? undefined : Number(points),
          timezone,
          withOthers: false,
          limit: SEARCH_ROWS,
        };
        const client = { organizationId: link.organizationId, credentialId: link.id, signal: abortOnDisconnect(reply) };
        const { tileId } = request.params;
        const dashboard = await readDashboard(link);
        const tile = dashboard.tiles.find(({ id }) => id === tileId);
        const filters = tile ? listSavedFilters(dashboard, tile) : [];
        return { data: await charts.queryTile(client, link.dashboardId, tileId, view, filters) };
      },
    );
  };
}

/** A deleted dashboard looks like a link that does not exist. */
function hideMissing(error: unknown): never {
  throw error instanceof AppError && error.code === 'not_found' ? new AppError('not_found', UNKNOWN_LINK) : error;
}

/** For the log. It has no role. */
const toIdentity = ({ id, organizationId, name, secretSuffix }: Link) => ({
  organizationId,
  revisions: { costs: 0, dashboards: 0 },
  credentialId: id,
  credentialName: name,
  suffix: secretSuffix,
  roles: [],
  allowsAddress: undefined,
});
