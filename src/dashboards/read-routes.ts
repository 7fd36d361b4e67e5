import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { dashboardResponse } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { preferredEncoding } from '../kernel/encodings.ts';
import { matchesEtag } from '../kernel/etag.ts';
import { type MaybePromise, mapMaybe } from '../kernel/maybe-promise.ts';
import { DASHBOARD_READERS } from '../kernel/roles.ts';
import { ResourcePath } from '../sources/id.ts';
import type { Dashboards } from './dashboards.ts';
import { createRenderings, type Encoded, type Rendering, rendered } from './renderings.ts';
import { Dashboard } from './schema.ts';

const tags = ['Dashboards'];
const LIST = '';

/** The two reads that everybody does all the time: rendered once, and kept until something changes. */
export function dashboardReadRoutes({ dashboards }: { dashboards: Dashboards }): Routes {
  const renderings = createRenderings();

  function answer(
    request: FastifyRequest,
    reply: object,
    what: string,
    render: (organizationId: string) => Promise<Rendering>,
  ): MaybePromise<void> {
    const { organizationId, revisions } = getIdentity(request);
    const accepted = preferredEncoding(request.headers['accept-encoding'] ?? '');
    const rendering =
      renderings.find(organizationId, revisions.dashboards, what) ??
      render(organizationId).then((made) => renderings.keep(organizationId, revisions.dashboards, what, made));
    return mapMaybe(rendering, (found) =>
      mapMaybe(renderings.encoded(organizationId, found, accepted), (encoded) =>
        sendUnlessKnown(request, reply as FastifyReply, found, encoded),
      ),
    );
  }

  return (app) => {
    app.get(
      '/api/v2/dashboards',
      {
        config: { operation: 'listDashboards', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List dashboards',
          description: 'All of them, whole, by name descending.',
          response: dashboardResponse(Type.Array(Dashboard)),
        },
      },
      (request, reply) =>
        answer(request, reply, LIST, async (organizationId) => {
          const all = await dashboards.list(organizationId);
          return rendered(`[${all.map(({ json }) => json).join(',')}]`);
        }),
    );

    app.get(
      '/api/v2/dashboards/:id',
      {
        config: { operation: 'getDashboard', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Get dashboard',
          description: 'One that comes from a file carries the name of that file in x-pilothouse-provisioned.',
          params: ResourcePath,
          response: dashboardResponse(Dashboard),
        },
      },
      (request, reply) =>
        answer(request, reply, request.params.id, async (organizationId) => {
          const { json, provisionedFrom } = await dashboards.get(organizationId, request.params.id);
          return rendered(json, provisionedFrom);
        }),
    );
  };
}

/** 304 when the client already has this answer. Written past the framework, which would look at every header again. */
function sendUnlessKnown(
  request: FastifyRequest,
  reply: FastifyReply,
  { plain, provisionedFrom }: Rendering,
  { bytes, etag, encoding }: Encoded,
): void {
  const known = request.headers['if-none-match'];
  const isKnown = known !== undefined && (known === etag || matchesEtag(known, plain.etag));
  const headers = reply.getHeaders() as Record<string, string | number>;
  headers.etag = etag;
  headers['cache-control'] = 'private, no-cache';
  headers.vary = 'accept-encoding';
  if (provisionedFrom !== undefined) headers['x-pilothouse-provisioned'] = encodeURI(provisionedFrom);
  reply.hijack();
  if (isKnown) {
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
