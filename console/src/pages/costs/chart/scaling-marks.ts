import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ActivityGetListInput, Operations } from '../../../api/generated.ts';
import { readPage } from '../../../api/pages.ts';
import type { Activity } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { useResourceNames } from '../../../app/resource-names.ts';
import { fieldLabel, fieldUnit, listChanges } from '../../../parts/activity/activity-text.ts';
import { toDay } from '../../../parts/format/days.ts';
import type { Span } from '../span.ts';

/** A scaling change on a day of the chart. */
export interface ScalingMark {
  id: string;
  /** "analytics: Replicas 3 → 5". */
  text: string;
}

const PAGE_SIZE = 1000;
/** Older changes than those on these pages have no mark. */
const MAX_PAGES = 10;
const SCALING_FIELDS = ['numReplicas', 'minReplicaMemoryGb', 'maxReplicaMemoryGb', 'idleScaling', 'idleTimeoutMinutes'];

const isScalingChange = ({ before, after }: Activity): boolean =>
  before !== undefined && after !== undefined && SCALING_FIELDS.some((field) => after[field] !== undefined);

/** The scaling changes of each day (UTC), oldest first; of one service if `serviceId` is given. */
export function useScalingMarks({ from, to }: Span, serviceId: string | undefined): ReadonlyMap<string, ScalingMark[]> {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery({
    queryKey: [organizationId, 'activities', 'services', from, to],
    queryFn: ({ signal }) => listServiceActivities(api, { organizationId, from_date: from, to_date: to }, signal),
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

async function listServiceActivities(
  api: Operations,
  filter: Pick<ActivityGetListInput, 'organizationId' | 'from_date' | 'to_date'>,
  signal: AbortSignal,
): Promise<Activity[]> {
  const activities: Activity[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && (page === 0 || cursor !== undefined); page += 1) {
    const input = {
      ...filter,
      resource_type: 'service',
      limit: PAGE_SIZE,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const { records, next } = await readPage((options) => api.activityGetList(input, options), signal);
    activities.push(...records);
    cursor = next;
  }
  return activities;
}

function formatMark(activity: Activity, names: ReadonlyMap<string, string>): string {
  const changes = listChanges(activity, names)
    .filter(({ field }) => SCALING_FIELDS.includes(field))
    .map(({ field, before, after }) => `${fieldLabel(field)} ${before ?? '–'} → ${after ?? '–'}${fieldUnit(field)}`);
  return `${names.get(activity.resourceId) ?? activity.resourceId.slice(0, 8)}: ${changes.join(', ')}`;
}
