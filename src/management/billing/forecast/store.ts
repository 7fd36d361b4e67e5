import type { Day } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Window } from '../window.ts';

export interface ComputeUsage {
  micros: number;
  firstDay: Day;
}

/** The compute cost of a service; undefined if it has no cost records in the window. */
export async function sumComputeCost(
  db: Db,
  organizationId: string,
  serviceId: string,
  { from, to }: Window,
): Promise<ComputeUsage | undefined> {
  const { micros, first_day } = await db
    .selectFrom('usage_costs')
    .select(({ fn, cast }) => [
      // PostgreSQL sums BIGINT as NUMERIC, which its driver returns as a string.
      cast<number | null>(fn.sum('compute_micros'), 'bigint').as('micros'),
      fn.min<string | null>('date').as('first_day'),
    ])
    .where('organization_id', '=', organizationId)
    .where('date', '>=', from)
    .where('date', '<=', to)
    .where('entity_type', '=', 'service')
    .where('entity_id', '=', serviceId)
    .executeTakeFirstOrThrow();
  return first_day === null ? undefined : { micros: micros ?? 0, firstDay: first_day };
}
