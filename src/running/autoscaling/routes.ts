import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { PageQuery } from '../../kernel/schemas/page-schema.ts';
import { readTime } from '../../kernel/time/query-range.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import type { ServiceSettingsOperations } from '../../management/services/settings/settings.ts';
import { AutoscalerBody } from '../../management/services/settings/settings-schema.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import { pageResponse, pageSuccess, readPage } from '../../platform/http/responses/paging.ts';
import type { Autoscaling } from './autoscaling.ts';
import {
  AutoscalingRecord,
  DecisionRecord,
  HistoryQuery,
  HistoryRecord,
  toAutoscalingRecord,
  toDecisionRecord,
  toHistoryRecord,
} from './schema.ts';

const tags = ['Services'];
const AUTOSCALING = '/v1/organizations/:organizationId/services/:serviceId/autoscaling';

interface Options {
  services: Services;
  serviceSettings: ServiceSettingsOperations;
  autoscaling: Autoscaling;
}

export function autoscalingRoutes({ services, serviceSettings, autoscaling }: Options): Routes {
  return (app) => {
    app.get(
      AUTOSCALING,
      {
        config: { operation: 'instanceAutoscalingGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get autoscaling',
          description: 'The mode of the autoscaler, and what it would decide now, with the reason.',
          params: ServicePath,
          response: managementResponse(AutoscalingRecord),
        },
      },
      async (request) => {
        const id = request.params.serviceId.toLowerCase();
        const service = await services.get(getIdentity(request).organizationId, id);
        return success(request, toAutoscalingRecord(await autoscaling.getStatus(service)));
      },
    );

    app.patch(
      AUTOSCALING,
      {
        config: { operation: 'instanceAutoscalingUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update autoscaling',
          description:
            'With mode apply, the service is resized within its limits. A simulated service has no load, so its size does not change.',
          params: ServicePath,
          body: AutoscalerBody,
          response: managementResponse(AutoscalingRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.serviceId.toLowerCase();
        const { mode } = request.body;
        const service = await serviceSettings.setAutoscalerMode(getActor(request), organizationId, id, mode);
        return success(request, toAutoscalingRecord(await autoscaling.getStatus(service)));
      },
    );

    app.get(
      `${AUTOSCALING}/decisions`,
      {
        config: { operation: 'instanceAutoscalingDecisionGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List autoscaling decisions',
          description:
            'Changes of the size and recommendations of the last 90 days, newest first. A recommendation is not repeated while it stands.',
          params: ServicePath,
          querystring: PageQuery,
          response: pageResponse(DecisionRecord),
        },
      },
      async (request) => {
        const page = readPage(request, ['text']);
        const id = request.params.serviceId.toLowerCase();
        const { items, next } = await autoscaling.listDecisions(getIdentity(request).organizationId, id, page);
        return pageSuccess(request, page, items.map(toDecisionRecord), next);
      },
    );

    app.get(
      `${AUTOSCALING}/history`,
      {
        config: { operation: 'instanceAutoscalingHistoryGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get autoscaling history',
          description: 'Load, size, cost per hour and decisions, at most 1,500 points. The load is kept for 90 days.',
          params: ServicePath,
          querystring: HistoryQuery,
          response: managementResponse(HistoryRecord),
        },
      },
      async (request) => {
        const range = { from: readTime(request.query.from, 'from'), to: readTime(request.query.to, 'to') };
        const id = request.params.serviceId.toLowerCase();
        const history = await autoscaling.getHistory(getIdentity(request).organizationId, id, range);
        return success(request, toHistoryRecord(history));
      },
    );
  };
}
