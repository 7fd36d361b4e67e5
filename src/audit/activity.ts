/** Who did something: a key over HTTP, or a person with the CLI or a fleet file on the machine itself. */
export interface Actor {
  type: 'api' | 'system';
  id: string;
  details: string;
  address?: string;
  userAgent?: string;
  requestId?: string;
}

/** Public names where the public system has one, so that its clients can read the trail. */
export const ACTIVITY_TYPES = [
  'create_organization',
  'delete_organization',
  'organization_update_name',
  'organization_update_tier',
  'key_create',
  'key_delete',
  'openapi_key_update',
  'service_create',
  'service_delete',
  'service_update',
  'service_update_autoscaling_memory',
  'service_update_autoscaling_replicas',
  'service_update_autoscaling_idling',
  'usage_cost_import',
  'budget_create',
  'budget_update',
  'budget_delete',
  'budget_threshold',
  'usage_day_lock',
  'price_book_create',
  'dashboard_token_create',
  'dashboard_token_update',
  'dashboard_token_delete',
  'dashboard_create',
  'dashboard_update',
  'dashboard_delete',
  'dashboard_source_create',
  'dashboard_source_update',
  'dashboard_source_delete',
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

/** One change. `before` and `after` hold the fields that changed, and never a secret or its hash. */
export interface Change {
  organizationId: string;
  type: ActivityType;
  resource: { type: string; id: string };
  serviceId?: string;
  before?: object | undefined;
  after?: object | undefined;
}

export interface Activity extends Change {
  id: string;
  createdAt: number;
  actor: Actor;
}

/** Only what differs, from both sides. */
export function difference<T extends object>(before: T, after: T): { before: Partial<T>; after: Partial<T> } {
  const changed: { before: Partial<T>; after: Partial<T> } = { before: {}, after: {} };
  for (const name of Object.keys({ ...before, ...after }) as (keyof T)[]) {
    if (before[name] === after[name] || JSON.stringify(before[name]) === JSON.stringify(after[name])) continue;
    if (before[name] !== undefined) changed.before[name] = before[name];
    if (after[name] !== undefined) changed.after[name] = after[name];
  }
  return changed;
}

/** What an activity must be to be shown; members left out let everything through. */
export interface Wanted {
  type?: ActivityType | undefined;
  /** The id of whoever did it, or the name they had. */
  actor?: string | undefined;
  resourceType?: string | undefined;
  resourceId?: string | undefined;
  /** In lower case; one of them must stand in what the trail says about the change. */
  texts?: readonly string[] | undefined;
}

export function isWanted({ type, actor, resource, before, after }: Activity, wanted: Wanted): boolean {
  if (wanted.type !== undefined && type !== wanted.type) return false;
  if (wanted.actor !== undefined && actor.id !== wanted.actor && actor.details !== wanted.actor) return false;
  if (wanted.resourceType !== undefined && resource.type !== wanted.resourceType) return false;
  if (wanted.resourceId !== undefined && resource.id !== wanted.resourceId) return false;
  if (wanted.texts === undefined) return true;
  const { id, details, address, userAgent, requestId } = actor;
  const named = [before, after].map((side) => (side as { name?: unknown } | undefined)?.name);
  const told = [type, id, details, address, userAgent, requestId, resource.id, ...named].join('\n').toLowerCase();
  return wanted.texts.some((text) => told.includes(text));
}
