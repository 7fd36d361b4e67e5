import Type, { type Static } from 'typebox';
import { getActor } from '../audit/request-actor.ts';
import { dashboardResponse } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { isoTime } from '../kernel/clock.ts';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../kernel/roles.ts';
import { ResourcePath } from '../sources/id.ts';
import { ifMatchOf, sendStored } from './routes.ts';
import { Dashboard, DashboardVersionPath, IfMatch, VersionRecord, WholeVersionRecord } from './schema.ts';
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
          description: 'Newest first; also those of a dashboard that was deleted.',
          params: ResourcePath,
          response: dashboardResponse(Type.Array(VersionRecord)),
        },
      },
      async (request) => ({
        data: (await versions.list(getIdentity(request).organizationId, request.params.id)).map(versionRecord),
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
      async (request) => {
        const { id, version } = request.params;
        const found = await versions.get(getIdentity(request).organizationId, id, versionNumber(version));
        return { data: { ...versionRecord(found), dashboard: JSON.parse(found.json) } };
      },
    );

    app.post(
      '/api/v2/dashboards/:id/versions/:version/restore',
      {
        config: { operation: 'restoreDashboardVersion', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Restore version of a dashboard',
          description: 'Saves it as the newest version; brings a deleted dashboard back. Honours If-Match.',
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
          await versions.restore(getActor(request), organizationId, id, versionNumber(version), ifMatchOf(request)),
        );
      },
    );
  };
}

/** What is no number is no version either. */
const versionNumber = (text: string): number => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0);

const versionRecord = (version: Version): Static<typeof VersionRecord> => ({
  version: version.version,
  savedAt: isoTime(version.savedAt),
  savedBy: version.savedBy,
  name: version.name,
  tiles: version.tileCount,
  ...(version.provisionedFrom === undefined ? {} : { provisionedFrom: version.provisionedFrom }),
});
