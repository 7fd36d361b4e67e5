import { useQueries } from '@tanstack/react-query';
import { usageCostQuery } from '../../api/queries.ts';
import type { CostRecord } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { type Span, splitByMonth } from './span.ts';

interface Costs {
  /** Undefined until all months are loaded, so that a partial total is never shown. */
  costs: CostRecord[] | undefined;
  error: unknown;
  retry: () => void;
}

export function useCosts(span: Span): Costs {
  const api = useApi();
  const { organizationId } = useSession();
  return useQueries({
    queries: splitByMonth(span).map(({ from, to }) => usageCostQuery(api, organizationId, from, to)),
    combine: (months) => ({
      costs: months.every(({ data }) => data) ? months.flatMap(({ data }) => data?.costs ?? []) : undefined,
      error: months.find(({ error, data }) => error && !data)?.error,
      retry: () => {
        for (const month of months) if (month.error) void month.refetch();
      },
    }),
  });
}
