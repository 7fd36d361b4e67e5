import type { Activity, ActivityType } from '../management/audit/activity.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { Services } from '../management/services/services.ts';
import type { ReadAnnotations } from '../observability/annotations/annotation.ts';

/** Activities that change the size of a service. */
const SCALING_TYPES: readonly ActivityType[] = [
  'service_update_autoscaling_memory',
  'service_update_autoscaling_replicas',
  'service_resize',
];

const FIELDS: readonly (readonly [field: string, label: string, unit: string])[] = [
  ['minReplicaMemoryGb', 'minimum memory', ' GB'],
  ['maxReplicaMemoryGb', 'maximum memory', ' GB'],
  ['numReplicas', 'replicas', ''],
  ['maxReplicas', 'maximum number of replicas', ''],
  ['replicas', 'replicas', ''],
  ['memoryGb', 'memory', ' GB'],
];

interface Options {
  audit: Pick<Audit, 'list'>;
  services: Pick<Services, 'listByIds'>;
}

/** Reads the scaling changes of services from the audit log. */
export function createScalingAnnotations({ audit, services }: Options): ReadAnnotations {
  return async (organizationId, { startMs, endMs }, limit) => {
    const pages = await Promise.all(
      SCALING_TYPES.map((type) => audit.list(organizationId, { fromMs: startMs, toMs: endMs, type }, { limit })),
    );
    const activities = pages.flatMap((page) => page.activities);
    const ids = [...new Set(activities.map(({ resource }) => resource.id))];
    const found = ids.length === 0 ? [] : await services.listByIds(organizationId, ids);
    const names = new Map(found.map(({ id, name }) => [id, name]));
    return activities.map((activity) => ({
      id: activity.id,
      kind: 'scaling' as const,
      time: activity.createdAt,
      title: `${names.get(activity.resource.id) ?? `service ${activity.resource.id.slice(0, 8)}`} was scaled`,
      text: formatChanges(activity),
      tags: [],
      createdBy: activity.actor.details,
    }));
  };
}

/** "replicas 3 → 5, maximum memory 48 → 96 GB". */
function formatChanges({ before = {}, after = {} }: Activity): string {
  const [old, next] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  return FIELDS.flatMap(([field, label, unit]) =>
    next[field] === undefined || next[field] === old[field]
      ? []
      : [`${label} ${old[field] === undefined ? '' : `${String(old[field])} → `}${String(next[field])}${unit}`],
  ).join(', ');
}
