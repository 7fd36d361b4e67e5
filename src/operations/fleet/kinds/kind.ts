import type { Violation } from '../../../kernel/errors.ts';
import { memoizeByObject } from '../../../kernel/memo.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { ActivityType, Actor } from '../../../management/audit/activity.ts';
import type { Organization } from '../../../management/organizations/organization.ts';
import type { Service } from '../../../management/services/service.ts';
import type { AlertRemoval } from '../../../observability/alerts/removal.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Declared, Fields, KindName } from '../declared.ts';
import type { Targets } from '../references.ts';

/** The values that rules depend on in addition to the resource. */
export interface Context {
  organization: Organization;
  now: number;
  actor: Actor;
  /** The organization's services after the change; while services are being planned, before it. Never modified. */
  services: ReadonlyMap<string, Service>;
  /** What alerts refer to, after the change; empty until alerts are planned. */
  targets: Targets;
  alertRemoval: Pick<AlertRemoval, 'erase' | 'leaveChannel' | 'removeOfSavedSearch' | 'removeOfTiles'>;
  /** The last locked day of the ledger; empty if there is none. */
  lockedThrough: Day;
}

interface Warehouse {
  /** In the order of the list. */
  first: Service;
  primaries: Service[];
}

/** The services by warehouse. Built once per list: searching the list for each resource would take quadratic time. */
export const groupByWarehouse = memoizeByObject(
  (services: ReadonlyMap<string, Service>): ReadonlyMap<string, Warehouse> => {
    const warehouses = new Map<string, Warehouse>();
    for (const service of services.values()) {
      const warehouse = warehouses.get(service.dataWarehouseId) ?? { first: service, primaries: [] };
      if (service.isPrimary) warehouse.primaries.push(service);
      warehouses.set(service.dataWarehouseId, warehouse);
    }
    return warehouses;
  },
);

/** A resource before and after the change. */
export interface Pair<T> {
  id: string;
  before: T | undefined;
  after: T;
}

/** The activity types of a kind. The type of an update may depend on the changed fields. */
export type Activities =
  | { create: ActivityType; update(changed: readonly string[]): ActivityType; remove: ActivityType }
  | { bulk: ActivityType };

/** Loads, converts, validates and stores one kind of resource. */
export interface Kind<T> {
  name: KindName;
  activities: Activities;
  /** The stored resources by id. For costs, only the days that the file declares. */
  load(tx: Db, organizationId: string, declared: readonly Declared[]): Promise<Map<string, T>>;
  /** All fields by their name in the file. */
  toFields(resource: T): Fields;
  /** The fields for an export, without secrets; all fields if absent. */
  toExportFields?(resource: T): Fields;
  /** The fields for plans and the audit log; all fields if absent. */
  toAuditFields?(resource: T): Fields;
  /** Values for fields that the declaration of a new resource leaves out. */
  defaults(fields: Fields, context: Context): Fields;
  /**
   * The inverse of `toFields`. Fields that a file cannot declare come from `before`. `declared` are those of the file,
   * also if they did not change.
   */
  build(id: string, fields: Fields, context: Context, before: T | undefined, declared: Fields): T;
  /** Paths are relative to the resource. */
  violations(pair: Pair<T>, context: Context): Violation[];
  /** The rules that forbid removal. Paths are relative to the organization. */
  removalViolations?(resource: T): Violation[];
  save(tx: Db, pairs: readonly Pair<T>[], context: Context): Promise<void>;
  remove(tx: Db, resource: T, context: Context): Promise<void>;
}
