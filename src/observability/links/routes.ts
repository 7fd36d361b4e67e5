import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { BasePath } from '../../platform/http/requests/base-path.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import type { Link } from './link.ts';
import type { Links } from './links.ts';
import { CreateLinkBody, CreateLinkResult, LinkPath, LinkRecord, toLinkRecord } from './schema.ts';

const tags = ['Dashboards'];
const PATH = '/api/v2/dashboards/:id/links';

/** Read-only links to a dashboard are created and revoked by those who may change it. */
export function linkRoutes({ links, basePath }: { links: Links; basePath: BasePath }): Routes {
  return (app) => {
    app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));

    app.get(
      PATH,
      {
        config: { operation: 'listDashboardLinks', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List links to a dashboard',
          description: 'Oldest first. Expired links are listed for 7 days.',
          params: ResourcePath,
          response: dashboardResponse(Type.Array(LinkRecord)),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        return { data: (await links.list(organizationId, request.params.id)).map(toLinkRecord) };
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'createDashboardLink', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create a read-only link to a dashboard',
          description:
            'Everyone who has the link can read this dashboard and the data of its tiles without an account, until the link expires or is revoked. Its secret is returned once.',
          params: ResourcePath,
          body: CreateLinkBody,
          response: dashboardResponse(CreateLinkResult),
        },
      },
      async (request) => {
        const { link, secret } = await links.create(
          getActor(request),
          getIdentity(request).organizationId,
          request.params.id,
          request.body,
          keepResponse(request, (created: Link) => ({ result: JSON.stringify({ link: toLinkRecord(created) }) })),
        );
        return { data: { link: toLinkRecord(link), path: `${basePath}/shared#${secret}` } };
      },
    );

    app.delete(
      `${PATH}/:linkId`,
      {
        config: { operation: 'deleteDashboardLink', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Revoke a link to a dashboard',
          description: 'The link is rejected from the next request on.',
          params: LinkPath,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        const { id, linkId } = request.params;
        await links.revoke(getActor(request), getIdentity(request).organizationId, id, linkId.toLowerCase());
        return {};
      },
    );
  };
}
