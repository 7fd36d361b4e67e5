import type { Violation } from '../../kernel/errors.ts';
import type { DashboardBody } from './schema.ts';

/** Ids of containers, and of the tabs of each, are unique. */
export function listContainerViolations({ containers = [] }: DashboardBody): Violation[] {
  const violations: Violation[] = [];
  const tabs = new Map<string, Set<string>>();
  for (const [index, container] of containers.entries()) {
    const path = `containers[${index}]`;
    if (tabs.has(container.id))
      violations.push({ path: `${path}.id`, rule: 'The id must be unique in the dashboard', value: container.id });
    const ids = new Set<string>();
    for (const [at, { id }] of (container.tabs ?? []).entries()) {
      if (ids.has(id))
        violations.push({ path: `${path}.tabs[${at}].id`, rule: 'The id must be unique in the container', value: id });
      ids.add(id);
    }
    tabs.set(container.id, ids);
  }
  return violations;
}
