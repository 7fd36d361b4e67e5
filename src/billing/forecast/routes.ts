import { managementResponse, success } from '../../http/envelopes.ts';
import { getIdentity } from '../../http/guard.ts';
import type { Routes } from '../../http/validation.ts';
import { READERS } from '../../kernel/roles.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { ReplicaScalingBody, ScalingBody, ServicePath } from '../../services/schema.ts';
import type { Forecasts } from './forecasts.ts';
import type { ScalingCosts } from './scaling-costs.ts';
import { ForecastQuery, forecastRecord, previewRecord, ScalingPreview, UsageCostForecast } from './schema.ts';

interface Options {
  forecasts: Forecasts;
  scalingCosts: ScalingCosts;
}

export function forecastRoutes({ forecasts, scalingCosts }: Options): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/usageCost/forecast',
      {
        config: { operation: 'usageCostForecastGet', roles: READERS },
        schema: {
          tags: ['Billing'],
          summary: 'Forecast usage cost',
          description:
            'What a month will have cost: by weekday from the last eight weeks, with a range from how far off such forecasts would have been.',
          params: OrganizationPath,
          querystring: ForecastQuery,
          response: managementResponse(UsageCostForecast),
        },
      },
      async (request) =>
        success(request, forecastRecord(await forecasts.of(getIdentity(request).organizationId, request.query.month))),
    );

    app.post(
      '/v1/organizations/:organizationId/services/:serviceId/scaling/preview',
      {
        config: { operation: 'instanceScalingPreview', roles: READERS },
        schema: {
          tags: ['Services'],
          summary: 'Preview service scaling',
          description: 'The record that the change would give, and what compute may cost a month. Nothing is stored.',
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
          previewRecord(await scalingCosts.preview(getIdentity(request).organizationId, id, change)),
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
          description: 'As for the totals. Nothing is stored.',
          params: ServicePath,
          body: ReplicaScalingBody,
          response: managementResponse(ScalingPreview),
        },
      },
      async (request) => {
        const { idleScaling, idleTimeoutMinutes, maxReplicaMemoryGb, minReplicaMemoryGb, numReplicas } = request.body;
        const change = { idleScaling, idleTimeoutMinutes, maxReplicaMemoryGb, minReplicaMemoryGb, numReplicas };
        const id = request.params.serviceId.toLowerCase();
        return success(
          request,
          previewRecord(await scalingCosts.preview(getIdentity(request).organizationId, id, change)),
        );
      },
    );
  };
}
