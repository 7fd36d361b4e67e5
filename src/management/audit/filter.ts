import { ACTIVITY_TYPES, type Activity, type ActivityType, listActivityTypes } from './activity.ts';
import { toPublicType } from './public-type.ts';

/** Omitted members match every activity. */
export interface ActivityFilter {
  /** Inclusive, in epoch milliseconds. */
  fromMs?: number | undefined;
  /** Exclusive, in epoch milliseconds. */
  toMs?: number | undefined;
  /** Our own type or a public one. */
  type?: string | undefined;
  /** The id of the actor, or the name it had at the time. */
  actor?: string | undefined;
  resourceType?: string | undefined;
  resourceId?: string | undefined;
  /** In lower case. One of them must occur in the searchable fields of the activity. */
  texts?: readonly string[] | undefined;
}

/** The indexed columns of an activity. */
export interface FilterColumns {
  type: string;
  actor_id: string;
  actor_name: string;
  resource_id: string;
}

/** An activity matches if all columns of one alternative have their values. */
export type Alternatives = readonly Partial<FilterColumns>[];

/** The conditions of a filter, the most selective first. An activity must match all of them. */
export function listConditions({ type, actor, resourceType, resourceId }: ActivityFilter): Alternatives[] {
  const conditions: Alternatives[] = [];
  if (resourceId !== undefined) conditions.push([{ resource_id: resourceId }]);
  if (type !== undefined) conditions.push(listTypes(type).map((own) => ({ type: own })));
  if (resourceType !== undefined) conditions.push(listActivityTypes(resourceType).map((type) => ({ type })));
  if (actor !== undefined) conditions.push([{ actor_id: actor }, { actor_name: actor }]);
  return conditions;
}

/** A name that exists only in the public interface selects all types that are mapped to it. */
function listTypes(name: string): ActivityType[] {
  const own = ACTIVITY_TYPES.filter((type) => type === name);
  return own.length > 0 ? own : ACTIVITY_TYPES.filter((type) => toPublicType(type) === name);
}

export const matchesColumns = (row: FilterColumns, alternatives: Alternatives): boolean =>
  alternatives.some((columns) =>
    Object.entries(columns).every(([name, value]) => row[name as keyof FilterColumns] === value),
  );

/** Cheaper than parsing: a string that occurs in a field also occurs in the JSON of the activity. */
export function mayContainText(document: string, texts: readonly string[]): boolean {
  const lower = document.toLowerCase();
  return texts.some((text) => lower.includes(JSON.stringify(text).slice(1, -1)));
}

export function containsText({ type, actor, resource, before, after }: Activity, texts: readonly string[]): boolean {
  const { id, details, address, userAgent, requestId } = actor;
  const names = [before, after].map((side) => (side as { name?: unknown } | undefined)?.name);
  const searchable = [type, id, details, address, userAgent, requestId, resource.id, ...names].join('\n').toLowerCase();
  return texts.some((text) => searchable.includes(text));
}
