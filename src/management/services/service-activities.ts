import { type ActivityType, difference } from '../audit/activity.ts';
import type { Scaling, Service } from './service.ts';
import { getSettledState } from './simulated.ts';

/** An activity of one service; the service is added when it is recorded. */
export interface ServiceActivity {
  type: ActivityType;
  before?: object;
  after?: object;
}

/** The fields of a service that the audit log may contain: no hash of a password. */
export function toAuditFields(service: Readonly<Service>) {
  const { name, kind, driver, dataWarehouseId, isPrimary, scaling, details } = service;
  return { name, kind, driver, state: getSettledState(service), dataWarehouseId, isPrimary, ...scaling, ...details };
}

/** One activity for each kind of change. The public types have none for tags. */
export function listUpdates(before: Readonly<Service>, after: Readonly<Service>): ServiceActivity[] {
  const changes: [ActivityType, object, object][] = [
    ['service_update_name', { name: before.name }, { name: after.name }],
    [
      'service_update_ip_access_list',
      { ipAccessList: before.details.ipAccessList ?? [] },
      { ipAccessList: after.details.ipAccessList ?? [] },
    ],
    ['service_update_tags', { tags: before.details.tags ?? [] }, { tags: after.details.tags ?? [] }],
  ];
  return changes
    .map(([type, from, to]) => ({ type, ...difference(from, to) }))
    .filter((change) => Object.keys(change.after).length > 0);
}

/** The public types distinguish memory, replicas and idling; a change of several has the first of these types. */
export function getScalingActivityType(changed: {
  before: Partial<Scaling>;
  after: Partial<Scaling>;
}): ActivityType | undefined {
  const names = Object.keys({ ...changed.before, ...changed.after }) as (keyof Scaling)[];
  const has = (...wanted: (keyof Scaling)[]) => wanted.some((name) => names.includes(name));
  if (has('minReplicaMemoryGb', 'maxReplicaMemoryGb')) return 'service_update_autoscaling_memory';
  if (has('numReplicas', 'maxReplicas', 'autoscalingMode')) return 'service_update_autoscaling_replicas';
  return names.length > 0 ? 'service_update_autoscaling_idling' : undefined;
}
