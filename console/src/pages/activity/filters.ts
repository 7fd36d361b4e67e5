import type { ActivityGetListInput } from '../../api/generated.ts';
import type { Activity } from '../../api/types.ts';
import type { ActivitySearch } from './search.ts';

/** What a change can be about; the values are those of the trail's `resourceType`. */
export const RESOURCE_TYPES = [
  { value: 'service', label: 'Services' },
  { value: 'key', label: 'Keys' },
  { value: 'dashboard', label: 'Dashboards' },
  { value: 'token', label: 'Dashboard tokens' },
  { value: 'source', label: 'Sources' },
  { value: 'budget', label: 'Budgets' },
  { value: 'cost', label: 'Costs' },
  { value: 'usage_day', label: 'Days of the bill' },
  { value: 'price_book', label: 'Prices' },
  { value: 'organization', label: 'Organization' },
];

/** As many ids fit beside a text. */
const MAX_IDS = 20;
const MAX_TEXT_LENGTH = 200;

/** What the server is asked for. The trail often holds only the id of a thing: its current name is looked up here. */
export function toFilter(
  { from, to, kind, actor, text = '' }: ActivitySearch,
  names: ReadonlyMap<string, string>,
): Omit<ActivityGetListInput, 'organizationId'> {
  const wanted = text.trim().toLowerCase().slice(0, MAX_TEXT_LENGTH);
  const named = [...names].filter(([, name]) => name.toLowerCase().includes(wanted)).map(([id]) => id);
  return {
    ...(from ? { from_date: from } : {}),
    ...(to ? { to_date: to } : {}),
    ...(kind ? { resource_type: kind } : {}),
    ...(actor ? { actor } : {}),
    ...(wanted === '' ? {} : { text: [wanted, ...named.slice(0, MAX_IDS)].join('|') }),
  };
}

/** Who may have done something: those who did lately, every key, and whoever is asked for. */
export const listActors = (
  recent: readonly Activity[],
  keys: readonly { name: string }[],
  wanted: string | undefined,
): string[] =>
  [
    ...new Set([
      ...recent.map(({ actorDetails }) => actorDetails),
      ...keys.map(({ name }) => name),
      ...(wanted ? [wanted] : []),
    ]),
  ].toSorted();
