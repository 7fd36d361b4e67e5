import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  DashboardFailure,
  dashboardResponse,
  emptyDashboardResponse,
} from '../../platform/http/responses/envelopes.ts';
import { parseRange } from '../charts/time-range.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { type Annotation, DEFAULT_LISTED } from './annotation.ts';
import type { Annotations } from './annotations.ts';
import { AnnotationBody, AnnotationQuery, AnnotationRecord, toAnnotationRecord } from './schema.ts';

const tags = ['Dashboards'];
/** What a client must be allowed to read to see these kinds. */
const OPERATIONS = { scaling: 'activityGetList', alert: 'listAlerts' } as const;
const KINDS_WITH_PERMISSION = ['scaling', 'alert'] as const;
const PATH = '/api/v2/annotations';

export function annotationRoutes({ annotations, clock }: { annotations: Annotations; clock: Clock }): Routes {
  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'listAnnotations', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List annotations',
          description:
            'The events of a time range that charts show, newest first: deploys, scaling changes of services, and when alerts fired.',
          querystring: AnnotationQuery,
          response: dashboardResponse(Type.Array(AnnotationRecord)),
        },
      },
      async (request) => {
        const { organizationId, grants } = getIdentity(request);
        const { limit, dashboardId, ...range } = request.query;
        const list = await annotations.list(organizationId, parseRange(clock.now(), range), {
          dashboardId,
          limit: limit === undefined ? DEFAULT_LISTED : Number(limit),
          // A custom role may exclude the audit log or alerts.
          without: grants ? KINDS_WITH_PERMISSION.filter((kind) => !grants.permits(OPERATIONS[kind], undefined)) : [],
        });
        return { data: list.map(toAnnotationRecord) };
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'createAnnotation', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create annotation',
          description: 'Marks an event on the charts of dashboards, such as a deploy. Without time: now.',
          body: AnnotationBody,
          response: {
            ...dashboardResponse(AnnotationRecord),
            404: { ...DashboardFailure, description: 'The dashboard does not exist' },
          },
        },
      },
      async (request) => {
        const inTransaction = keepResponse(request, (created: Annotation) => ({
          result: JSON.stringify(toAnnotationRecord(created)),
        }));
        const { organizationId } = getIdentity(request);
        const created = await annotations.create(getActor(request), organizationId, request.body, inTransaction);
        return { data: toAnnotationRecord(created) };
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { operation: 'deleteAnnotation', roles: DASHBOARD_WRITERS },
        schema: { tags, summary: 'Delete annotation', params: ResourcePath, response: emptyDashboardResponse },
      },
      async (request) => {
        await annotations.remove(getActor(request), getIdentity(request).organizationId, request.params.id);
        return {};
      },
    );
  };
}
