import { type ActivityGetListInput, activityGetListConstraints } from '../../api/generated.ts';
import type { Activity } from '../../api/types.ts';
import type { ActivitySearch } from './search.ts';

/** Values of `resourceType` in the audit log. */
export const RESOURCE_TYPES = [
  { value: 'service', label: 'Services' },
  { value: 'member', label: 'Members' },
  { value: 'invitation', label: 'Invitations' },
  { value: 'key', label: 'Keys' },
  { value: 'dashboard', label: 'Dashboards' },
  { value: 'dashboard_link', label: 'Dashboard links' },
  { value: 'annotation', label: 'Annotations' },
  { value: 'token', label: 'Dashboard tokens' },
  { value: 'source', label: 'Sources' },
  { value: 'alert', label: 'Alerts' },
  { value: 'channel', label: 'Channels' },
  { value: 'budget', label: 'Budgets' },
  { value: 'cost', label: 'Costs' },
  { value: 'usage_day', label: 'Usage days' },
  { value: 'price_book', label: 'Price book' },
  { value: 'organization', label: 'Organization' },
  { value: 'session', label: 'Sign-ins' },
];

export const MAX_TEXT_LENGTH = 200;
const UUID_LENGTH = 36;
/** The API limits the length of the text including all IDs. */
const MAX_IDS = Math.floor((activityGetListConstraints.text.maxLength - MAX_TEXT_LENGTH) / (UUID_LENGTH + 1));

/** The query of the request. The audit log often records only the ID of a resource, so IDs of resources whose current name matches are added to the text. */
export function toFilter(
  { from, to, kind, actor, resource, text = '' }: ActivitySearch,
  named: readonly { id: string; name: string }[],
): Omit<ActivityGetListInput, 'organizationId'> {
  const searchText = text.trim().toLowerCase().slice(0, MAX_TEXT_LENGTH);
  const matchingIds = named.filter(({ name }) => name.toLowerCase().includes(searchText)).map(({ id }) => id);
  return {
    ...(from ? { from_date: from } : {}),
    ...(to ? { to_date: to } : {}),
    ...(kind ? { resource_type: kind } : {}),
    ...(actor ? { actor } : {}),
    ...(resource ? { resource_id: resource } : {}),
    ...(searchText === '' ? {} : { text: [searchText, ...matchingIds.slice(0, MAX_IDS)].join('|') }),
  };
}

/** Actors to choose from: those of recent activities, all keys and the selected one. */
export const listActors = (
  recent: readonly Activity[],
  keys: readonly { name: string }[],
  selected: string | undefined,
): string[] =>
  [
    ...new Set([
      ...recent.map(({ actorDetails }) => actorDetails),
      ...keys.map(({ name }) => name),
      ...(selected ? [selected] : []),
    ]),
  ].toSorted();
