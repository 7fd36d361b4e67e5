import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Activity } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useResourceNames } from '../../app/resource-names.ts';
import { fieldLabel, fieldUnit, listChanges } from '../../parts/activity-text.ts';
import { toDay } from '../../parts/days.ts';
import type { Span } from './span.ts';

/** A scaling change on a day of the chart. */
export interface ScalingMark {
  id: string;
  /** "analytics: Replicas 3 → 5". */
  text: string;
}

const MAX_ACTIVITIES = '1000';
const SCALING_FIELDS = ['numReplicas', 'minReplicaMemoryGb', 'maxReplicaMemoryGb', 'idleScaling', 'idleTimeoutMinutes'];

const isScalingChange = ({ before, after }: Activity): boolean =>
  before !== undefined && after !== undefined && SCALING_FIELDS.some((field) => after[field] !== undefined);

/** The scaling changes of each day (UTC), oldest first; of one service if `serviceId` is given. */
export function useScalingMarks({ from, to }: Span, serviceId: string | undefined): ReadonlyMap<string, ScalingMark[]> {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery({
    queryKey: [organizationId, 'activities', 'services', from, to],
    queryFn: ({ signal }) =>
      api.activityGetList(
        { organizationId, resource_type: 'service', from_date: from, to_date: to, limit: MAX_ACTIVITIES },
        { signal },
      ),
    staleTime: 60_000,
  });
  const changes = useMemo(() => data?.filter(isScalingChange) ?? [], [data]);
  const names = useResourceNames(changes);
  return useMemo(() => {
    const marks = new Map<string, ScalingMark[]>();
    for (const activity of changes.toReversed()) {
      if (serviceId !== undefined && activity.resourceId !== serviceId) continue;
      const day = toDay(new Date(activity.createdAt));
      marks.set(day, [...(marks.get(day) ?? []), { id: activity.id, text: formatMark(activity, names) }]);
    }
    return marks;
  }, [changes, names, serviceId]);
}

function formatMark(activity: Activity, names: ReadonlyMap<string, string>): string {
  const changes = listChanges(activity, names)
    .filter(({ field }) => SCALING_FIELDS.includes(field))
    .map(({ field, before, after }) => `${fieldLabel(field)} ${before ?? '–'} → ${after ?? '–'}${fieldUnit(field)}`);
  return `${names.get(activity.resourceId) ?? activity.resourceId.slice(0, 8)}: ${changes.join(', ')}`;
}
