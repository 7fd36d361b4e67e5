import { queryOptions } from '@tanstack/react-query';
import type { Operations } from './generated.ts';
import type { ScalingChange, Service } from './types.ts';

/** Monthly compute cost in CHC before and after a change. Stores nothing. */
export function scalingPreviewQuery(api: Operations, organizationId: string, service: Service, body: ScalingChange) {
  const { id: serviceId, currentScaling } = service;
  return queryOptions({
    queryKey: [organizationId, 'scaling-preview', serviceId, currentScaling, body],
    queryFn: ({ signal }) => api.instanceReplicaScalingPreview({ organizationId, serviceId, body }, { signal }),
    retry: false,
  });
}
