import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { DASHBOARD_READERS } from '../../kernel/access/roles.ts';
import { createEtag, matchesEtag } from '../../kernel/etag.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { chooseEncoding } from '../../platform/http/responses/compression.ts';
import { dashboardResponse, NotModified } from '../../platform/http/responses/envelopes.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { renderAll, renderFormat, toFormatEtag } from './config-form.ts';
import type { Dashboards } from './dashboards.ts';
import { createRenderedDashboards, type RenderedBody, renderBody } from './rendered-dashboards.ts';
import { EitherDashboard, type Format, FormatQuery } from './schema.ts';

const tags = ['Dashboards'];
/** Names of bodies in the cache. The path `/api/v2/dashboards/` has an empty id, so the list needs a name. */
const LIST = 'list';
const nameDashboard = (id: string): string => `dashboard ${id}`;
const inFormat = (name: string, format: Format): string => (format === 'series' ? name : `${name} ${format}`);

/** The two most frequent reads: rendered once and cached until a dashboard changes. */
export function dashboardReadRoutes({ dashboards }: { dashboards: Dashboards }): Routes {
  const renderedDashboards = createRenderedDashboards();

  async function respond(
    request: FastifyRequest,
    reply: object,
    name: string,
    renderPlain: (organizationId: string) => Promise<RenderedBody>,
  ): Promise<void> {
    const { organizationId, revisions } = getIdentity(request);
    const key = { organizationId, revision: revisions.dashboards, name };
    const encoding = chooseEncoding(request, reply as FastifyReply);
    const body =
      renderedDashboards.find(key, encoding) ??
      (await renderedDashboards.render(key, encoding, () => renderPlain(organizationId)));
    return sendUnlessCached(request, reply as FastifyReply, body);
  }

  return (app) => {
    app.get(
      '/api/v2/dashboards',
      {
        config: { operation: 'listDashboards', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List dashboards',
          description: 'Every dashboard in full, ordered by name descending.',
          querystring: FormatQuery,
          response: { ...dashboardResponse(Type.Array(EitherDashboard)), 304: NotModified },
        },
      },
      (request, reply) => {
        const { format = 'series' } = request.query;
        return respond(request, reply, inFormat(LIST, format), async (organizationId) => {
          const all = await dashboards.list(organizationId);
          return renderBody(`[${(await renderAll(all, format)).join(',')}]`);
        });
      },
    );

    app.get(
      '/api/v2/dashboards/:id',
      {
        config: { operation: 'getDashboard', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Get dashboard',
          description:
            'If the dashboard comes from the dashboards folder, x-pilothouse-provisioned is the path of its file.',
          params: ResourcePath,
          querystring: FormatQuery,
          response: { ...dashboardResponse(EitherDashboard), 304: NotModified },
        },
      },
      (request, reply) => {
        const { id } = request.params;
        const { format = 'series' } = request.query;
        return respond(request, reply, inFormat(nameDashboard(id), format), async (organizationId) => {
          const { json, provisionedFrom } = await dashboards.get(organizationId, id);
          const etag = toFormatEtag(createEtag(json), format);
          return renderBody(renderFormat(json, format), provisionedFrom, etag);
        });
      },
    );
  };
}

/** 304 if the client has this body. Bypasses the framework's header processing, which is slow. */
function sendUnlessCached(request: FastifyRequest, reply: FastifyReply, body: RenderedBody): void {
  const { bytes, etag, plainEtag, encoding, provisionedFrom } = body;
  const cached = request.headers['if-none-match'];
  const isCached = cached !== undefined && (cached === etag || matchesEtag(cached, plainEtag));
  const headers = reply.getHeaders() as Record<string, string | number>;
  headers.etag = etag;
  headers['cache-control'] = 'private, no-cache';
  if (provisionedFrom !== undefined) headers['x-pilothouse-provisioned'] = encodeURI(provisionedFrom);
  reply.hijack();
  if (isCached) {
    reply.raw.writeHead(304, headers);
    reply.raw.end();
    return;
  }
  headers['content-type'] = 'application/json; charset=utf-8';
  headers['content-length'] = bytes.length;
  if (encoding !== undefined) headers['content-encoding'] = encoding;
  reply.raw.writeHead(200, headers);
  reply.raw.end(bytes);
}
