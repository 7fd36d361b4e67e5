import type { Violation } from '../../../kernel/errors.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Organization } from '../../organizations/organization.ts';
import type { DesiredState, DriverName, Observation } from '../driver.ts';
import { limitViolations, patchList, toIpAccess, toTag } from '../entry-lists.ts';
import { hasRegion, type Provider, type Region } from '../regions.ts';
import { applyScalingChange, mergeScaling, type ScalingChange } from '../scaling/scaling.ts';
import {
  defaultScaling,
  type IpAccess,
  type Service,
  type ServiceKind,
  type Tag,
  TOTAL_PER_REPLICA,
} from '../service.ts';
import { DECLARED_DRIVERS, type ServiceSettings } from '../service-settings.ts';

/** The fields of a new service that a client can set. */
export interface NewService extends ScalingChange {
  name: string;
  provider: Provider;
  region: Region;
  tier?: ServiceKind | undefined;
  driver?: DriverName | undefined;
  ipAccessList?: readonly IpAccess[] | undefined;
  tags?: readonly Tag[] | undefined;
  /** The warehouse to join. */
  dataWarehouseId?: string | undefined;
  /** The backup whose data it starts with. */
  backupId?: string | undefined;
  isReadonly?: boolean | undefined;
}

/**
 * The service of a backup and the data directory that has it, if only one node can reach it, or why the backup cannot be
 * restored.
 */
export type FindRestorable = (tx: Db, organizationId: string, backupId: string) => Promise<Restorable>;
export type Restorable =
  | { serviceId: string; placement: string | undefined }
  /** Without a service, there is no such backup. */
  | { obstacle: string; ofServiceId?: string };

/** Of a backup that does not exist, or whose service the caller may not know. */
export const NO_BACKUP = 'The organization has no such backup';

type TieredOrganization = Pick<Organization, 'tier' | 'isPaid'>;

interface Circumstances {
  id: string;
  organizationId: string;
  organization: TieredOrganization;
  now: number;
  dataWarehouseId: string;
  desiredState: DesiredState;
  observed: Observation;
  settings: ServiceSettings;
}

/** The service, whether or not it violates a rule. A service without a warehouse is the first of its own. */
export function toNewService(wanted: NewService, circumstances: Circumstances): Service {
  const { id, organizationId, organization, now, dataWarehouseId, desiredState, observed, settings } = circumstances;
  const { name, provider, region, tier, driver = 'simulated', isReadonly, ipAccessList = [], tags = [] } = wanted;
  const kind = tier ?? 'production';
  return {
    id,
    organizationId,
    name,
    kind,
    ...(tier === undefined ? { isTierOmitted: true } : undefined),
    driver,
    desiredState,
    generation: 1,
    settledGeneration: 1,
    dataWarehouseId,
    isPrimary: wanted.dataWarehouseId === undefined,
    scaling: mergeScaling(defaultScaling(organization, kind), wanted),
    createdAt: now,
    details: {
      provider,
      region,
      ipAccessList: patchList([], { add: ipAccessList }, toIpAccess, ({ source }) => source),
      tags: patchList([], { add: tags }, toTag, ({ key }) => key),
      isReadonly: isReadonly ?? false,
    },
    settings,
    observed,
  };
}

/** `warehouse` has the services of the warehouse to join. */
export function newServiceViolations(
  wanted: NewService,
  organization: TieredOrganization,
  warehouse: readonly Service[],
  service: Service,
): Violation[] {
  const context = { organization, service };
  return [
    ...driverViolations(service.driver),
    ...regionViolations(wanted),
    ...warehouseViolations(wanted, warehouse),
    ...totalViolations(wanted),
    ...applyScalingChange(defaultScaling(organization, service.kind), wanted, context).violations,
    ...limitViolations(service.details),
  ];
}

/** These services need a resource or a receiver, whose secrets must not be sent in a request. */
const driverViolations = (driver: DriverName): Violation[] =>
  DECLARED_DRIVERS.some((name) => name === driver)
    ? [
        {
          path: 'driver',
          rule: `A service with the driver ${driver} must be declared in the fleet file`,
          value: driver,
        },
      ]
    : [];

const regionViolations = ({ provider, region }: NewService): Violation[] =>
  hasRegion(provider, region)
    ? []
    : [{ path: 'region', rule: `The provider ${provider} has no such region`, value: region }];

function warehouseViolations(wanted: NewService, warehouse: readonly Service[]): Violation[] {
  const { dataWarehouseId, isReadonly, provider, region } = wanted;
  if (dataWarehouseId === undefined) {
    const rule = 'Only a service that joins a warehouse can be read-only; give its dataWarehouseId';
    return isReadonly ? [{ path: 'isReadonly', rule, value: isReadonly }] : [];
  }
  if (wanted.driver === 'embedded') return [{ path: 'dataWarehouseId', rule: OWN_DATA_RULE, value: dataWarehouseId }];
  const first = warehouse.find(({ isPrimary }) => isPrimary) ?? warehouse[0];
  if (!first)
    return [{ path: 'dataWarehouseId', rule: 'The organization has no such warehouse', value: dataWarehouseId }];
  const inRegion = (name: 'provider' | 'region', value: string): Violation[] => {
    const expected = first.details[name];
    return expected === undefined || expected === value
      ? []
      : [{ path: name, rule: `The ${name} must be that of the warehouse, ${expected}`, value }];
  };
  return [...inRegion('provider', provider), ...inRegion('region', region)];
}

export const OWN_DATA_RULE = 'An embedded service has its own data, so it cannot join a warehouse';

/** Totals and memory per replica are two names of the same setting. */
const totalViolations = (wanted: NewService): Violation[] =>
  (['min', 'max'] as const).flatMap((bound) => {
    const total = wanted[`${bound}TotalMemoryGb`];
    const replica = wanted[`${bound}ReplicaMemoryGb`];
    if (total === undefined || replica === undefined || total === replica * TOTAL_PER_REPLICA) return [];
    const rule = `The value must be ${TOTAL_PER_REPLICA} times ${bound}ReplicaMemoryGb`;
    return [{ path: `${bound}TotalMemoryGb`, rule, value: total }];
  });

/** Of a service that is created from a backup. */
export function restoreViolations(
  backupId: string | undefined,
  driver: DriverName,
  restorable: Awaited<ReturnType<FindRestorable>>,
): Violation[] {
  if ('obstacle' in restorable) return [{ path: 'backupId', rule: restorable.obstacle, value: backupId }];
  const rule = 'A backup can be restored into an embedded service only';
  return driver === 'embedded' ? [] : [{ path: 'driver', rule, value: driver }];
}
