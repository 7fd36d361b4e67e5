import { prepared } from '../state/prepared.ts';
import type { Db, ServiceRow } from '../state/tables.ts';
import type { Scaling, Service, ServiceKind, ServiceState } from './service.ts';

const toService = (row: ServiceRow): Service => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  kind: row.kind as ServiceKind,
  state: row.state as ServiceState,
  dataWarehouseId: row.data_warehouse_id,
  isPrimary: row.is_primary === 1,
  scaling: {
    numReplicas: row.num_replicas,
    minReplicaMemoryGb: row.min_replica_memory_gb,
    maxReplicaMemoryGb: row.max_replica_memory_gb,
    idleScaling: row.idle_scaling === 1,
    idleTimeoutMinutes: row.idle_timeout_minutes,
  },
  createdAt: row.created_at,
  details: JSON.parse(row.details),
});

const toRow = (service: Service): ServiceRow => ({
  id: service.id,
  organization_id: service.organizationId,
  name: service.name,
  kind: service.kind,
  state: service.state,
  data_warehouse_id: service.dataWarehouseId,
  is_primary: service.isPrimary ? 1 : 0,
  num_replicas: service.scaling.numReplicas,
  min_replica_memory_gb: service.scaling.minReplicaMemoryGb,
  max_replica_memory_gb: service.scaling.maxReplicaMemoryGb,
  idle_scaling: service.scaling.idleScaling ? 1 : 0,
  idle_timeout_minutes: service.scaling.idleTimeoutMinutes,
  created_at: service.createdAt,
  details: JSON.stringify(service.details),
});

const selectOne = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db.selectFrom('services').selectAll().where('organization_id', '=', value.organizationId).where('id', '=', value.id),
);

export async function findService(db: Db, organizationId: string, id: string): Promise<Service | undefined> {
  const row = await selectOne.first(db, { organizationId, id });
  return row && toService(row);
}

export async function listServices(db: Db, organizationId: string): Promise<Service[]> {
  const rows = await db
    .selectFrom('services')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toService);
}

const setScaling = prepared(
  (
    db: Db,
    value: {
      organizationId: string;
      id: string;
      replicas: number;
      min: number;
      max: number;
      idle: number;
      timeout: number;
    },
  ) =>
    db
      .updateTable('services')
      .set({
        num_replicas: value.replicas,
        min_replica_memory_gb: value.min,
        max_replica_memory_gb: value.max,
        idle_scaling: value.idle,
        idle_timeout_minutes: value.timeout,
      })
      .where('organization_id', '=', value.organizationId)
      .where('id', '=', value.id),
);

export async function updateScaling(tx: Db, organizationId: string, id: string, scaling: Scaling): Promise<void> {
  await setScaling.first(tx, {
    organizationId,
    id,
    replicas: scaling.numReplicas,
    min: scaling.minReplicaMemoryGb,
    max: scaling.maxReplicaMemoryGb,
    idle: scaling.idleScaling ? 1 : 0,
    timeout: scaling.idleTimeoutMinutes,
  });
}

export async function insertService(tx: Db, service: Service): Promise<void> {
  await tx.insertInto('services').values(toRow(service)).execute();
}

export async function updateService(tx: Db, service: Service): Promise<void> {
  const { id, organization_id, created_at, ...changeable } = toRow(service);
  await tx
    .updateTable('services')
    .set(changeable)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .execute();
}

export async function deleteService(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('services').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}
