import { queryOptions } from '@tanstack/react-query';
import type { Options } from './client.ts';
import type { Operations } from './generated.ts';
import type { ScalingChange, Service } from './types.ts';

interface MonthlyCost {
  min: number;
  max: number;
}

type Input = { organizationId: string; serviceId: string; body: ScalingChange };

/** Servers before the preview do not have it; the query is then switched off. */
type MaybePreview = {
  instanceScalingPreview?: (
    input: Input,
    options?: Options,
  ) => Promise<{ monthlyCost: { before: MonthlyCost; after: MonthlyCost } }>;
};

/** CHC for compute in a month, as things are and after the change. Stores nothing. */
export function scalingPreviewQuery(api: Operations, organizationId: string, service: Service, body: ScalingChange) {
  const { instanceScalingPreview: preview } = api as MaybePreview;
  const { id: serviceId, numReplicas, minTotalMemoryGb, maxTotalMemoryGb } = service;
  return queryOptions({
    queryKey: [organizationId, 'scaling-preview', serviceId, numReplicas, minTotalMemoryGb, maxTotalMemoryGb, body],
    enabled: preview !== undefined,
    retry: false,
    queryFn: async ({ signal }) => {
      if (!preview) throw new Error('This server has no preview');
      return (await preview({ organizationId, serviceId, body }, { signal })).monthlyCost;
    },
  });
}
