import type { ActivityType, Actor } from '../../audit/activity.ts';
import type { Day } from '../../kernel/days.ts';
import type { Violation } from '../../kernel/errors.ts';
import type { Organization } from '../../organizations/organization.ts';
import type { Service } from '../../services/service.ts';
import type { Db } from '../../state/tables.ts';
import type { Declared, Fields, KindName } from '../resource.ts';

/** What a kind may look at besides the resource itself. */
export interface Context {
  organization: Organization;
  now: number;
  /** Whoever applies the file. */
  actor: Actor;
  /** The organization's services as they will be; while services themselves are planned, as they are. */
  services: ReadonlyMap<string, Service>;
  /** The last day of its ledger that is closed; empty when none is. */
  lockedThrough: Day;
}

/** One resource as it was and as it will be. */
export interface Pair<T> {
  id: string;
  before: T | undefined;
  after: T;
}

/** What the audit trail calls a change; an update may be named after the fields that changed. */
export type Activities =
  | { create: ActivityType; update(changed: readonly string[]): ActivityType; remove: ActivityType }
  | { bulk: ActivityType };

/** How one kind of resource is read, spelled in a file, judged and stored. */
export interface Kind<T> {
  name: KindName;
  /** The activities that the audit trail gets; a kind that is imported in bulk has one line for all. */
  activities: Activities;
  /** What the organization has now, by id; of a large ledger only what the file speaks of. */
  load(tx: Db, organizationId: string, declared: readonly Declared[]): Promise<Map<string, T>>;
  /** Every field by its name in the file: what `export` writes, and the trail shows where there is no `trailOf`. */
  fieldsOf(resource: T): Fields;
  /** What plans and the audit trail show of it, where that is less than every field. */
  trailOf?(resource: T): Fields;
  /** What a new resource has where the file says nothing. */
  defaults(fields: Fields, context: Context): Fields;
  /** The inverse of `fieldsOf`. `before` keeps what no file can say. */
  build(id: string, fields: Fields, context: Context, before: T | undefined): T;
  /** The rules that one resource must obey, with paths below the resource. */
  violations(pair: Pair<T>, context: Context): Violation[];
  /** Why one may not be removed, with paths below the organization. */
  removalViolations?(resource: T): Violation[];
  save(tx: Db, pairs: readonly Pair<T>[], context: Context): Promise<void>;
  remove(tx: Db, resource: T, context: Context): Promise<void>;
}
