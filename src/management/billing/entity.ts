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

/**
 * Telemetry that apps send belongs to no service. In every organization, it is an entity of this id, of the type for data that
 * flows into the system: the public interface has no other type. It is its own warehouse, since each cost record has one.
 */
export const TELEMETRY_ENTITY: Entity = {
  entityType: 'clickpipe',
  entityId: '5f0c2f9e-7d5a-4b6c-9a51-0e7c3b1d8f42',
  entityName: 'Telemetry',
  dataWarehouseId: '5f0c2f9e-7d5a-4b6c-9a51-0e7c3b1d8f42',
  serviceId: undefined,
  region: undefined,
};

/** Entities by `entityKey`. */
export type EntityMap = ReadonlyMap<string, Entity>;

export const entityKey = ({ entityType, entityId }: { entityType: string; entityId: string }): string =>
  `${entityType} ${entityId}`;
