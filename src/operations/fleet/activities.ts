import type { Change } from '../../management/audit/activity.ts';
import type { Activities } from './kinds/kind.ts';
import type { Step } from './plan.ts';

/** One activity per changed resource; a bulk import has a single activity. */
export function toChanges(activities: Activities, steps: readonly Step[]): Change[] {
  const changed = steps.filter(({ action }) => action !== 'unchanged');
  if ('bulk' in activities) return toBulkChange(activities.bulk, changed);
  return changed.map(({ action, kind, organizationId, id, before, after }) => ({
    organizationId,
    type:
      action === 'add'
        ? activities.create
        : action === 'remove'
          ? activities.remove
          : activities.update(Object.keys(after ?? {})),
    resource: { type: kind, id },
    ...(kind === 'service' ? { serviceId: id } : {}),
    before,
    after,
  }));
}

function toBulkChange(type: Change['type'], steps: readonly Step[]): Change[] {
  const [first] = steps;
  if (!first) return [];
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const after = { added: count('add'), changed: count('change'), removed: count('remove') };
  return [
    { organizationId: first.organizationId, type, resource: { type: first.kind, id: first.organizationId }, after },
  ];
}
