import { isoTime, parseDateTime } from '../../kernel/clock.ts';
import type { Violation } from '../../kernel/errors.ts';
import { MAX_UNPAID_REPLICA_GB, MIN_REPLICAS_OF_PRIMARY } from '../../services/scaling-limits.ts';
import {
  defaultScaling,
  type Service,
  type ServiceDetails,
  type ServiceKind,
  type ServiceState,
} from '../../services/service.ts';
import { deleteService, insertService, listServices, updateService } from '../../services/store.ts';
import type { Context, Kind } from './kind.ts';

export const serviceKind: Kind<Service> = {
  name: 'service',
  activities: { create: 'service_create', update: () => 'service_update', remove: 'service_delete' },

  async load(tx, organizationId) {
    return new Map((await listServices(tx, organizationId)).map((service) => [service.id, service]));
  },

  fieldsOf: ({ name, kind, state, dataWarehouseId, isPrimary, scaling, createdAt, details }) => ({
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
    const joins = [...services.values()].some(
      ({ isPrimary, dataWarehouseId }) => isPrimary && dataWarehouseId === fields.dataWarehouseId,
    );
    return {
      kind,
      state: 'running',
      ...(joins ? { isPrimary: false } : {}),
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
      details: withValues<ServiceDetails>(details),
    };
  },

  violations: ({ id, after }, context) => [...sizeViolations(after, context), ...primaryViolations(id, after, context)],

  async save(tx, pairs) {
    for (const { before, after } of pairs) await (before ? updateService(tx, after) : insertService(tx, after));
  },

  remove: (tx, service) => deleteService(tx, service.organizationId, service.id),
};

/** A field without a value is left out of the record, never shown as empty (decision S7); so are those of its endpoints and addresses. */
function withValues<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withValues) as T;
  if (typeof value !== 'object' || value === null) return value;
  const filled = Object.entries(value).filter(([, member]) => member !== '' && member !== undefined);
  return Object.fromEntries(filled.map(([name, member]) => [name, withValues(member)])) as T;
}

/** What may be declared at all. That a size cannot be *changed* (BASIC, development) is a rule of the API, not of a file. */
function sizeViolations({ kind, isPrimary, scaling }: Service, { organization }: Context): Violation[] {
  const { numReplicas, minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = scaling;
  const violations: Violation[] = [];
  const broken = (path: string, rule: string, value: number) => violations.push({ path, rule, value });
  if (organization.tier === 'BASIC') {
    if (numReplicas !== 1)
      broken('numReplicas', 'A service of a BASIC organization has exactly 1 replica', numReplicas);
  } else if (kind === 'production' && isPrimary && numReplicas < MIN_REPLICAS_OF_PRIMARY) {
    broken('numReplicas', 'The first service of a warehouse must have at least 2 replicas', numReplicas);
  }
  if (!organization.isPaid && max > MAX_UNPAID_REPLICA_GB) {
    broken(
      'maxReplicaMemoryGb',
      `A non-paid organization may have at most ${MAX_UNPAID_REPLICA_GB} GB per replica, ${MAX_UNPAID_REPLICA_GB * 3} GB in total`,
      max,
    );
  }
  if (min > max)
    broken('minReplicaMemoryGb', `The minimum of ${min} GB per replica must not exceed the maximum of ${max} GB`, min);
  return violations;
}

function primaryViolations(id: string, { isPrimary, dataWarehouseId }: Service, { services }: Context): Violation[] {
  const other = isPrimary
    ? [...services.values()].find(
        (service) => service.id !== id && service.isPrimary && service.dataWarehouseId === dataWarehouseId,
      )
    : undefined;
  return other
    ? [{ path: 'isPrimary', rule: `The warehouse has a first service already, ${other.name}`, value: true }]
    : [];
}
