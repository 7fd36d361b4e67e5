import { findSystemRole, getSystemRoleId, isKeyRole } from '../../kernel/access/roles.ts';
import type { Activity } from './activity.ts';

interface Targets {
  targetRoleIds?: string[];
  targetRoleNames?: string[];
  targetActorIds?: string[];
  targetResourceIds?: string[];
}

/** The fields of roles and keys that activities contain. */
interface Fields {
  name?: string;
  policies?: { resources: string[] }[];
  roles?: string[];
  customRoleIds?: string[];
}

/** What an activity of a role is about, or of a key whose roles changed, in the members of the public interface. */
export function listTargets({ resource, before, after }: Pick<Activity, 'resource' | 'before' | 'after'>): Targets {
  const sides = [before, after].map((side) => (side ?? {}) as Fields);
  if (resource.type === 'role') {
    const names = sides.flatMap(({ name }) => name ?? []);
    return {
      targetRoleIds: [resource.id],
      ...named('targetRoleNames', names),
      ...named(
        'targetResourceIds',
        sides.flatMap(({ policies = [] }) => policies.flatMap(({ resources }) => resources)),
      ),
    };
  }
  if (resource.type !== 'key') return {};
  const [old, current] = sides.map(listRoleIds);
  const changed = [...(old ?? []), ...(current ?? [])].filter((id) => !(old?.includes(id) && current?.includes(id)));
  if (changed.length === 0) return {};
  const names = changed.flatMap((id) => findSystemRole(id) ?? []);
  return {
    ...named('targetRoleIds', changed),
    // The name of a custom role is not in the activity of a key.
    ...(names.length === changed.length ? named('targetRoleNames', names) : {}),
    targetActorIds: [`apiKey/${resource.id}`],
  };
}

const listRoleIds = ({ roles = [], customRoleIds = [] }: Fields): string[] => [
  ...roles.filter(isKeyRole).map(getSystemRoleId),
  ...customRoleIds,
];

const named = (member: keyof Targets, values: readonly string[]): Targets =>
  values.length === 0 ? {} : { [member]: [...new Set(values)] };
