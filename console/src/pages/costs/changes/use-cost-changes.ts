import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { listDays } from '../../../parts/format/days.ts';
import type { Span } from '../span.ts';

/** The limit of the server for one summary. */
const MAX_SUMMARY_DAYS = 400;

export const canCompare = ({ from, to }: Span): boolean => listDays(from, to).length <= MAX_SUMMARY_DAYS;

/** The costs of the span by entity, compared with the same number of days directly before it. */
export function useCostComparison(span: Span) {
  const api = useApi();
  const { organizationId } = useSession();
  const { from, to } = span;
  return useQuery({
    queryKey: [organizationId, 'usageCost', 'comparison', from, to],
    queryFn: ({ signal }) =>
      api.usageCostSummaryGet({ organizationId, from_date: from, to_date: to, by: 'all', group: 'entity' }, { signal }),
    staleTime: 60_000,
    enabled: canCompare(span),
    placeholderData: keepPreviousData,
  });
}
