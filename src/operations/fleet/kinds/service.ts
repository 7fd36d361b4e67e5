import type { Violation } from '../../../kernel/errors.ts';
import { isoTime, parseDateTime } from '../../../kernel/time/clock.ts';
import { DRIVERS, type DriverName, type ServiceState, toDesiredState } from '../../../management/services/driver.ts';
import { OWN_DATA_RULE } from '../../../management/services/lifecycle/new-service.ts';
import { declaredScalingViolations } from '../../../management/services/scaling/scaling.ts';
import { scheduleViolations } from '../../../management/services/scaling/schedule.ts';
import {
  defaultScaling,
  type Scaling,
  type Service,
  type ServiceDetails,
  type ServiceKind,
} from '../../../management/services/service.ts';
import { DECLARED_DRIVERS, type ServiceSettings } from '../../../management/services/service-settings.ts';
import { getSettledState } from '../../../management/services/simulated.ts';
import { deleteService, insertServices, listServices, updateService } from '../../../management/services/store.ts';
import type { Fields } from '../declared.ts';
import { mergeDriverOptions, missingOptionViolations, toAuditedOptions, toExportedOptions } from '../driver-options.ts';
import { type Context, groupByWarehouse, type Kind } from './kind.ts';

export const serviceKind: Kind<Service> = {
  name: 'service',
  activities: { create: 'service_create', update: () => 'service_update', remove: 'service_delete' },

  async load(tx, organizationId) {
    return new Map((await listServices(tx, organizationId)).map((service) => [service.id, service]));
  },

  toFields: (service) => ({
    ...toRecordedFields(service),
    ...orderSettings(service.settings ?? {}),
    createdAt: isoTime(service.createdAt),
    ...service.details,
  }),

  toExportFields: (service) => ({ ...serviceKind.toFields(service), ...toExportedOptions(service.settings ?? {}) }),

  toAuditFields: (service) => {
    const { passwordHash: _, passwordDoubleSha1Hash: __, ...settings } = service.settings ?? {};
    return {
      ...toRecordedFields(service),
      ...settings,
      ...toAuditedOptions(settings),
      createdAt: isoTime(service.createdAt),
      ...service.details,
    };
  },

  defaults(fields, { organization, now, services }) {
    const kind = (fields.kind ?? 'production') as ServiceKind;
    const warehouse = groupByWarehouse(services).get(String(fields.dataWarehouseId));
    const hasPrimary = warehouse !== undefined && warehouse.primaries.length > 0;
    return {
      kind,
      driver: 'simulated',
      state: 'running',
      ...(hasPrimary ? { isPrimary: false } : {}),
      ...defaultScaling(organization, kind),
      ...(isDeclared(fields.driver) ? { idleScaling: false } : {}),
      createdAt: isoTime(now),
    };
  },

  build(id, fields, { organization, now }, before, declared) {
    const {
      name,
      kind,
      isTierOmitted,
      driver,
      state,
      dataWarehouseId,
      isPrimary,
      numReplicas,
      minReplicaMemoryGb,
      maxReplicaMemoryGb,
      idleScaling,
      idleTimeoutMinutes,
      autoscalingMode,
      maxReplicas,
      passwordHash,
      passwordDoubleSha1Hash,
      backupConfiguration,
      serviceQueryEndpoint,
      scalingSchedule,
      kubernetes,
      webhook,
      autoscaling,
      createdAt,
      ...details
    } = fields;
    const scaling: Scaling = {
      numReplicas: Number(numReplicas),
      minReplicaMemoryGb: Number(minReplicaMemoryGb),
      maxReplicaMemoryGb: Number(maxReplicaMemoryGb),
      idleScaling: idleScaling === true && !isAdopted(before, fields, declared),
      idleTimeoutMinutes: Number(idleTimeoutMinutes),
    };
    if (autoscalingMode === 'horizontal')
      Object.assign(scaling, { autoscalingMode, maxReplicas: Number(maxReplicas ?? numReplicas) });
    const settings = orderSettings({
      passwordHash,
      passwordDoubleSha1Hash,
      backupConfiguration,
      serviceQueryEndpoint,
      scalingSchedule,
      ...mergeDriverOptions(driver as DriverName, { kubernetes, webhook }, before?.settings),
      autoscaling,
    });
    const { restore } = before?.settings ?? {};
    const kept = restore ? { ...settings, restore } : settings;
    return {
      id,
      organizationId: organization.id,
      name: String(name),
      kind: kind as ServiceKind,
      ...(isTierOmitted === true && kind === 'production' ? { isTierOmitted } : undefined),
      driver: driver as DriverName,
      ...toStates(driver as DriverName, state as ServiceState, now, before),
      generation: before?.generation ?? 1,
      settledGeneration: before?.settledGeneration ?? 1,
      ...(before?.size ? { size: before.size } : undefined),
      dataWarehouseId: String(dataWarehouseId),
      isPrimary: isPrimary === true,
      scaling,
      createdAt: parseDateTime(String(createdAt), { offset: 'required' }) ?? 0,
      details: removeEmptyFields<ServiceDetails>(details),
      ...(Object.keys(kept).length > 0 ? { settings: kept as ServiceSettings } : undefined),
    };
  },

  violations: ({ id, before, after }, context) => [
    ...driverViolations(before, after),
    ...missingOptionViolations(after),
    ...declaredScalingViolations(after, context.organization),
    ...declaredScheduleViolations(after, context),
    ...primaryViolations(id, after, context),
  ],

  async save(tx, pairs) {
    for (const { before, after } of pairs) if (before) await updateService(tx, before, after);
    await insertServices(
      tx,
      pairs.flatMap(({ before, after }) => (before ? [] : [after])),
    );
  },

  remove: (tx, service, { now }) => deleteService(tx, service, now),
};

/** Clients may reach its database without the endpoint here, so it idles only where the file says so. */
const isDeclared = (driver: unknown): boolean => DECLARED_DRIVERS.some((name) => name === driver);

/** A simulated service becomes one whose database exists already. */
const isAdopted = (before: Service | undefined, { driver }: Fields, { idleScaling }: Fields): boolean =>
  before !== undefined && before.driver !== driver && isDeclared(driver) && idleScaling === undefined;

const toRecordedFields = (service: Service) => ({
  name: service.name,
  kind: service.kind,
  ...(service.isTierOmitted ? { isTierOmitted: true } : undefined),
  driver: service.driver,
  state: getSettledState(service),
  dataWarehouseId: service.dataWarehouseId,
  isPrimary: service.isPrimary,
  ...service.scaling,
});

/** A declared state is in effect at once. A file that declares the settled state does not interrupt a transition. */
function toStates(
  driver: DriverName,
  state: ServiceState,
  now: number,
  before: Service | undefined,
): Pick<Service, 'desiredState' | 'observed'> {
  if (before?.driver === driver && getSettledState(before) === state)
    return { desiredState: before.desiredState, observed: before.observed };
  const desiredState = toDesiredState(state);
  if (!DRIVERS[driver].isReconciled) return { desiredState, observed: { state, since: now } };
  const isKnown = before?.driver === driver;
  return { desiredState, observed: isKnown ? before.observed : { state: 'provisioning', since: now } };
}

const SETTING_NAMES = [
  'passwordHash',
  'passwordDoubleSha1Hash',
  'backupConfiguration',
  'serviceQueryEndpoint',
  'scalingSchedule',
  'kubernetes',
  'webhook',
  'autoscaling',
] as const satisfies readonly (keyof ServiceSettings)[];

/** The settings with a value, in a fixed order: members are compared as text, and the API stores them in the order of its calls. */
const orderSettings = (settings: Fields | ServiceSettings): Fields =>
  Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const value = (settings as Fields)[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Removes empty fields, including those of endpoints and addresses: the record omits fields without a value (decision S7). */
function removeEmptyFields<T>(value: T): T {
  if (Array.isArray(value)) return value.map(removeEmptyFields) as T;
  if (typeof value !== 'object' || value === null) return value;
  const filled = Object.entries(value).filter(([, member]) => member !== '' && member !== undefined);
  return Object.fromEntries(filled.map(([name, member]) => [name, removeEmptyFields(member)])) as T;
}

/** What a driver runs stays where it is, so a service cannot get another one. */
function driverViolations(before: Service | undefined, { driver, isPrimary }: Service): Violation[] {
  const path = 'driver';
  if (driver === 'embedded' && !isPrimary) return [{ path, rule: OWN_DATA_RULE, value: driver }];
  if (!before || !DRIVERS[before.driver].isReconciled || before.driver === driver) return [];
  const rule = `The service has the driver ${before.driver}; to run it with another one, delete it and create it again`;
  return [{ path, rule, value: driver }];
}

const declaredScheduleViolations = (service: Service, { organization }: Context): Violation[] =>
  scheduleViolations(service.settings?.scalingSchedule ?? [], service.scaling, { organization, service }).map(
    (violation) => ({ ...violation, path: `scalingSchedule${violation.path}` }),
  );

function primaryViolations(id: string, { isPrimary, dataWarehouseId }: Service, { services }: Context): Violation[] {
  const primaries = isPrimary ? groupByWarehouse(services).get(dataWarehouseId)?.primaries : undefined;
  const other = primaries?.find((service) => service.id !== id);
  return other
    ? [{ path: 'isPrimary', rule: `The warehouse already has a first service, ${other.name}`, value: true }]
    : [];
}
