import { ADMINS, READERS } from '../../../kernel/access/roles.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { getCaller } from '../../audit/request-actor.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { ReplicaScalingBody, ScalingBody, ServicePath, toReplicaScalingChange } from '../../services/schema.ts';
import type { Forecasts } from './forecasts.ts';
import type { ScalingCosts } from './scaling-costs.ts';
import {
  ForecastQuery,
  NewServicePreview,
  NewServicePreviewBody,
  ScalingPreview,
  toForecastRecord,
  toNewServicePreview,
  toPreviewRecord,
  UsageCostForecast,
} from './schema.ts';

interface Options {
  forecasts: Forecasts;
  scalingCosts: ScalingCosts;
  clock: Clock;
}

export function forecastRoutes({ forecasts, scalingCosts, clock }: Options): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/usageCost/forecast',
      {
        config: { operation: 'usageCostForecastGet', roles: READERS },
        schema: {
          tags: ['Billing'],
          summary: 'Forecast usage cost',
          description:
            'Forecasts the total of a month from the weekday pattern of the last eight weeks. The range comes from backtests.',
          params: OrganizationPath,
          querystring: ForecastQuery,
          response: managementResponse(UsageCostForecast),
        },
      },
      async (request) =>
        success(
          request,
          toForecastRecord(await forecasts.get(getIdentity(request).organizationId, request.query.month)),
        ),
    );

    app.post(
      '/v1/organizations/:organizationId/services/preview',
      {
        config: { operation: 'instanceCreatePreview', roles: ADMINS },
        schema: {
          tags: ['Services'],
          summary: 'Preview new service',
          description:
            'The size of the service that would be created, with defaults for what is left out, and its monthly compute cost. Creates nothing.',
          params: OrganizationPath,
          body: NewServicePreviewBody,
          response: managementResponse(NewServicePreview),
        },
      },
      async (request) => {
        const { provider, region, tier, driver, ...scaling } = request.body;
        // The name has no influence on the price.
        const wanted = { name: '', provider, region, tier, driver, ...toReplicaScalingChange(scaling) };
        return success(
          request,
          toNewServicePreview(
            await scalingCosts.previewNew(getCaller(request), getIdentity(request).organizationId, wanted),
          ),
        );
      },
    );

    app.post(
      '/v1/organizations/:organizationId/services/:serviceId/scaling/preview',
      {
        config: { operation: 'instanceScalingPreview', roles: READERS },
        schema: {
          tags: ['Services'],
          summary: 'Preview service scaling',
          description:
            'Returns the service as it would be after the change, and its monthly compute cost before and after. Changes nothing.',
          params: ServicePath,
          body: ScalingBody,
          response: managementResponse(ScalingPreview),
        },
      },
      async (request) => {
        const { idleScaling, idleTimeoutMinutes, maxTotalMemoryGb, minTotalMemoryGb, numReplicas } = request.body;
        const change = { idleScaling, idleTimeoutMinutes, maxTotalMemoryGb, minTotalMemoryGb, numReplicas };
        const id = request.params.serviceId.toLowerCase();
        return success(
          request,
          toPreviewRecord(await scalingCosts.preview(getIdentity(request).organizationId, id, change), clock),
        );
      },
    );

    app.post(
      '/v1/organizations/:organizationId/services/:serviceId/replicaScaling/preview',
      {
        config: { operation: 'instanceReplicaScalingPreview', roles: READERS },
        schema: {
          tags: ['Services'],
          summary: 'Preview service scaling, memory per replica',
          description: 'Like the preview of scaling, with memory per replica instead of in total. Changes nothing.',
          params: ServicePath,
          body: ReplicaScalingBody,
          response: managementResponse(ScalingPreview),
        },
      },
      async (request) => {
        const change = toReplicaScalingChange(request.body);
        const id = request.params.serviceId.toLowerCase();
        return success(
          request,
          toPreviewRecord(await scalingCosts.preview(getIdentity(request).organizationId, id, change), clock),
        );
      },
    );
  };
}
