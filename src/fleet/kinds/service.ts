import { isoTime, parseDateTime } from '../../kernel/clock.ts';
import type { Violation } from '../../kernel/errors.ts';
import { declaredScalingViolations } from '../../services/scaling.ts';
import {
  defaultScaling,
  type Service,
  type ServiceDetails,
  type ServiceKind,
  type ServiceState,
} from '../../services/service.ts';
import { deleteService, insertServices, listServices, updateService } from '../../services/store.ts';
import { type Context, groupByWarehouse, type Kind } from './kind.ts';

export const serviceKind: Kind<Service> = {
  name: 'service',
  activities: { create: 'service_create', update: () => 'service_update', remove: 'service_delete' },

  async load(tx, organizationId) {
    return new Map((await listServices(tx, organizationId)).map((service) => [service.id, service]));
  },

  toFields: ({ name, kind, state, dataWarehouseId, isPrimary, scaling, createdAt, details }) => ({
    name,
    kind,
    state,
    dataWarehouseId,
    isPrimary,
    ...scaling,
    createdAt: isoTime(createdAt),
    ...details,
  }),

  defaults(fields, { organization, now, services }) {
    const kind = (fields.kind ?? 'production') as ServiceKind;
    const warehouse = groupByWarehouse(services).get(String(fields.dataWarehouseId));
    const hasPrimary = warehouse !== undefined && warehouse.primaries.length > 0;
    return {
      kind,
      state: 'running',
      ...(hasPrimary ? { isPrimary: false } : {}),
      ...defaultScaling(organization, kind),
      createdAt: isoTime(now),
    };
  },

  build(id, fields, { organization }) {
    const {
      name,
      kind,
      state,
      dataWarehouseId,
      isPrimary,
      numReplicas,
      minReplicaMemoryGb,
      maxReplicaMemoryGb,
      idleScaling,
      idleTimeoutMinutes,
      createdAt,
      ...details
    } = fields;
    return {
      id,
      organizationId: organization.id,
      name: String(name),
      kind: kind as ServiceKind,
      state: state as ServiceState,
      dataWarehouseId: String(dataWarehouseId),
      isPrimary: isPrimary === true,
      scaling: {
        numReplicas: Number(numReplicas),
        minReplicaMemoryGb: Number(minReplicaMemoryGb),
        maxReplicaMemoryGb: Number(maxReplicaMemoryGb),
        idleScaling: idleScaling === true,
        idleTimeoutMinutes: Number(idleTimeoutMinutes),
      },
      createdAt: parseDateTime(String(createdAt), { offset: 'required' }) ?? 0,
      details: removeEmptyFields<ServiceDetails>(details),
    };
  },

  violations: ({ id, after }, context) => [
    ...declaredScalingViolations(after, context.organization),
    ...primaryViolations(id, after, context),
  ],

  async save(tx, pairs) {
    for (const { before, after } of pairs) if (before) await updateService(tx, after);
    await insertServices(
      tx,
      pairs.flatMap(({ before, after }) => (before ? [] : [after])),
    );
  },

  remove: (tx, service) => deleteService(tx, service.organizationId, service.id),
};

/** Removes empty fields, including those of endpoints and addresses: the record omits fields without a value (decision S7). */
function removeEmptyFields<T>(value: T): T {
  if (Array.isArray(value)) return value.map(removeEmptyFields) as T;
  if (typeof value !== 'object' || value === null) return value;
  const filled = Object.entries(value).filter(([, member]) => member !== '' && member !== undefined);
  return Object.fromEntries(filled.map(([name, member]) => [name, removeEmptyFields(member)])) as T;
}

function primaryViolations(id: string, { isPrimary, dataWarehouseId }: Service, { services }: Context): Violation[] {
  const primaries = isPrimary ? groupByWarehouse(services).get(dataWarehouseId)?.primaries : undefined;
  const other = primaries?.find((service) => service.id !== id);
  return other
    ? [{ path: 'isPrimary', rule: `The warehouse already has a first service, ${other.name}`, value: true }]
    : [];
}
