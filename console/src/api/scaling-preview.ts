import { queryOptions } from '@tanstack/react-query';
import type { Operations } from './generated.ts';
import type { ScalingChange, Service } from './types.ts';

/** Monthly compute cost in CHC before and after a change. Stores nothing. */
export function scalingPreviewQuery(api: Operations, organizationId: string, service: Service, body: ScalingChange) {
  const { id: serviceId, numReplicas, minTotalMemoryGb, maxTotalMemoryGb } = service;
  return queryOptions({
    queryKey: [organizationId, 'scaling-preview', serviceId, numReplicas, minTotalMemoryGb, maxTotalMemoryGb, body],
    queryFn: ({ signal }) => api.instanceScalingPreview({ organizationId, serviceId, body }, { signal }),
    select: ({ monthlyCost }) => monthlyCost,
    retry: false,
  });
}
