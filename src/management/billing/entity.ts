export const ENTITY_TYPES = ['datawarehouse', 'service', 'clickpipe'] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** Identifies an entity within an organization. */
export interface EntityRef {
  entityType: EntityType;
  entityId: string;
}

/** Anything that usage is metered and billed for. */
export interface Entity extends EntityRef {
  entityName: string;
  dataWarehouseId: string;
  serviceId: string | undefined;
  /** Selects the price where prices differ by region. */
  region: string | undefined;
}

/** Entities by `entityKey`. */
export type EntityMap = ReadonlyMap<string, Entity>;

export const entityKey = ({ entityType, entityId }: { entityType: string; entityId: string }): string =>
  `${entityType} ${entityId}`;
