import type { Activity } from '../../api/types.ts';
import { resourceNameOf, verbOf } from '../../parts/activity-text.ts';
import type { ActivitySearch } from './search.ts';

/** What a change can be about; the values are those of the trail's `resourceType`. */
export const KINDS = [
  { value: 'service', label: 'Services' },
  { value: 'key', label: 'Keys' },
  { value: 'dashboard', label: 'Dashboards' },
  { value: 'token', label: 'Dashboard tokens' },
  { value: 'source', label: 'Sources' },
  { value: 'cost', label: 'Costs' },
  { value: 'organization', label: 'Organization' },
];

export function matches(
  activity: Activity,
  { kind, actor, text }: ActivitySearch,
  names: ReadonlyMap<string, string>,
): boolean {
  if (kind !== undefined && activity.resourceType !== kind) return false;
  if (actor !== undefined && activity.actorDetails !== actor) return false;
  if (text === undefined) return true;
  const { actorDetails, actorIpAddress, type, resourceId, requestId, userAgent } = activity;
  return [
    actorDetails,
    actorIpAddress,
    type,
    verbOf(activity),
    resourceNameOf(activity, names),
    resourceId,
    requestId,
    userAgent,
  ]
    .join(' ')
    .toLowerCase()
    .includes(text.trim().toLowerCase());
}

/** Everybody who is in what was loaded, and whoever is asked for. */
export const actorsIn = (activities: readonly Activity[], wanted: string | undefined): string[] =>
  [...new Set([...activities.map(({ actorDetails }) => actorDetails), ...(wanted ? [wanted] : [])])].toSorted();
