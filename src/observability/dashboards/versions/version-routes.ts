import Type, { type Static } from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../../kernel/access/roles.ts';
import { isoTime } from '../../../kernel/time/clock.ts';
import { getActor } from '../../../management/audit/request-actor.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import { keepResponse } from '../../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../../platform/http/requests/if-match.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { dashboardResponse, sendRendered } from '../../../platform/http/responses/envelopes.ts';
import { ResourcePath } from '../../sources/resource-id.ts';
import { readIfMatch, renderStored, sendStored } from '../routes.ts';
import { Dashboard, DashboardVersionPath, VersionRecord, WholeVersionRecord } from '../schema.ts';
import type { StoredDashboard } from '../store.ts';
import type { Version, Versions } from './versions.ts';

const tags = ['Dashboards'];

export function versionRoutes({ versions }: { versions: Versions }): Routes {
  return (app) => {
    app.get(
      '/api/v2/dashboards/:id/versions',
      {
        config: { operation: 'listDashboardVersions', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List versions of a dashboard',
          description: 'Newest first. Also available for a deleted dashboard.',
          params: ResourcePath,
          response: dashboardResponse(Type.Array(VersionRecord)),
        },
      },
      async (request) => ({
        data: (await versions.list(getIdentity(request).organizationId, request.params.id)).map(toVersionRecord),
      }),
    );

    app.get(
      '/api/v2/dashboards/:id/versions/:version',
      {
        config: { operation: 'getDashboardVersion', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Get version of a dashboard',
          params: DashboardVersionPath,
          response: dashboardResponse(WholeVersionRecord),
        },
      },
      async (request, reply) => {
        const { id, version } = request.params;
        const found = await versions.get(getIdentity(request).organizationId, id, parseVersion(version));
        const record = JSON.stringify(toVersionRecord(found)).slice(0, -1);
        return sendRendered(reply, Buffer.from(`{"data":${record},"dashboard":${found.json}}}`));
      },
    );

    app.post(
      '/api/v2/dashboards/:id/versions/:version/restore',
      {
        config: { operation: 'restoreDashboardVersion', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Restore version of a dashboard',
          description: 'Saves the version as the newest one. Also restores a deleted dashboard. Supports If-Match.',
          params: DashboardVersionPath,
          headers: IfMatch,
          response: dashboardResponse(Dashboard),
        },
      },
      async (request, reply) => {
        const { id, version } = request.params;
        const { organizationId } = getIdentity(request);
        return sendStored(
          reply,
          await versions.restore(
            getActor(request),
            organizationId,
            id,
            parseVersion(version),
            readIfMatch(request),
            keepResponse(request, (stored: StoredDashboard) => renderStored(stored)),
          ),
        );
      },
    );
  };
}

/** 0, which is never a version, if the text is not a number. */
const parseVersion = (text: string): number => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0);

const toVersionRecord = (version: Version): Static<typeof VersionRecord> => ({
  version: version.version,
  savedAt: isoTime(version.savedAt),
  savedBy: version.savedBy,
  name: version.name,
  tiles: version.tileCount,
  ...(version.provisionedFrom === undefined ? {} : { provisionedFrom: version.provisionedFrom }),
});
