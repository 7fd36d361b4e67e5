import { AppError, MISSING, rejectViolations, type Violation } from '../../../kernel/errors.ts';
import { createTimeOrderedIds, newUuid } from '../../../kernel/ids.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { hashPassword, newServicePassword } from '../../../platform/credentials/secrets.ts';
import type { InTransaction, State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { ActivityType, Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Caller } from '../../hand-outs/caller.ts';
import type { Organization } from '../../organizations/organization.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { DRIVERS, type DriverName } from '../driver.ts';
import { type ListPatch, limitViolations, patchList, toIpAccess, toTag } from '../entry-lists.ts';
import type { IpAccess, Service, Tag } from '../service.ts';
import { listUpdates, toAuditFields } from '../service-activities.ts';
import type { ServiceSettings } from '../service-settings.ts';
import { createServiceWriter } from '../service-writer.ts';
import { applyCommand, type Command, getCommandedState, isDeletable, observe, provision } from '../simulated.ts';
import { hasServices, insertServices, listWarehouses } from '../store.ts';
import { assertMayCopy, findOrigins } from './copied-data.ts';
import {
  type FindRestorable,
  type NewService,
  newServiceViolations,
  restoreViolations,
  toNewService,
} from './new-service.ts';

export type ServiceLifecycle = ReturnType<typeof createServiceLifecycle>;

interface CreatedService {
  service: Service;
  /** Returned once. */
  password: string;
}

/** The fields of a new service that the server sets, and who creates it. */
interface Identity {
  organizationId: string;
  id: string;
  now: number;
  settings: ServiceSettings;
  caller: Caller;
}

/** Hashes of a password that the client keeps. */
interface PasswordHashes {
  passwordHash?: string | undefined;
  /** Empty counts as left out. */
  passwordDoubleSha1Hash?: string | undefined;
}

interface ServiceUpdate {
  name?: string | undefined;
  ipAccessList?: ListPatch<IpAccess> | undefined;
  tags?: ListPatch<Tag> | undefined;
}

interface CommandOptions {
  /** Starts an embedded service whose data directory is missing without its data. */
  allowEmpty?: boolean | undefined;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  maxServices?: number | undefined;
  /** How long a simulated transition takes. */
  transitionMs?: number | undefined;
  /** Of services that are created without a driver. */
  defaultDriver?: DriverName | undefined;
  findRestorable?: FindRestorable | undefined;
}

/** Creates, changes, starts, stops and deletes services. */
export function createServiceLifecycle(options: Options) {
  const { state, clock, audit, organizations } = options;
  const { maxServices = Number.POSITIVE_INFINITY, transitionMs = 0, defaultDriver = 'simulated' } = options;
  const { findRestorable = async () => ({ obstacle: 'This server has no backups' }) } = options;
  const nextId = createTimeOrderedIds();
  const writer = createServiceWriter({ state, audit });

  /** The driver reports the end of other transitions. */
  const getTransitionMs = (driver: DriverName): number | undefined =>
    DRIVERS[driver].isReconciled ? undefined : transitionMs;

  async function assertRoom(tx: Db, organizationId: string): Promise<void> {
    if (Number.isFinite(maxServices) && (await hasServices(tx, organizationId, maxServices)))
      throw new AppError(
        'conflict',
        `The organization has reached its limit of ${maxServices} services; delete one first`,
      );
  }

  /** The new service; rejects what breaks a rule. */
  async function build(
    db: Db,
    organization: Pick<Organization, 'tier' | 'isPaid'>,
    requested: NewService,
    { organizationId, id, now, settings, caller }: Identity,
  ): Promise<Service> {
    const origins = await findOrigins(db, organizationId, requested, { findRestorable, caller });
    const { backupId, restorable, warehouseId, warehouse } = origins;
    const wanted = restorable ? { ...requested, driver: requested.driver ?? 'embedded' } : requested;
    // An embedded service cannot join a warehouse.
    const driver = wanted.driver ?? (warehouseId === undefined ? defaultDriver : 'simulated');
    const service = toNewService(
      { ...wanted, driver },
      {
        id,
        organizationId,
        organization,
        now,
        dataWarehouseId: warehouseId ?? newUuid(),
        settings,
        ...provision(now, getTransitionMs(driver)),
      },
    );
    rejectViolations([
      ...newServiceViolations(wanted, organization, warehouse, service),
      ...(restorable ? restoreViolations(backupId, driver, restorable) : []),
    ]);
    assertMayCopy(caller, origins);
    if (backupId === undefined || !restorable || !('placement' in restorable)) return service;
    // The node with the files of the backup runs the service.
    const { placement } = restorable;
    const observed = { ...service.observed, ...(placement !== undefined && { placement }) };
    return { ...service, settings: { ...settings, restore: { backupId } }, observed };
  }

  return {
    /** The service that `create` would create, rejected for the same reasons. Stores nothing. */
    async preview(caller: Caller, organizationId: string, wanted: NewService) {
      const organization = await organizations.get(organizationId);
      const identity = { organizationId, id: newUuid(), now: clock.now(), settings: {}, caller };
      return { organization, service: await build(state.db, organization, wanted, identity) };
    },

    async create(
      actor: Actor,
      caller: Caller,
      organizationId: string,
      wanted: NewService,
      inTransaction?: InTransaction<Service>,
    ): Promise<CreatedService> {
      const now = clock.now();
      const password = newServicePassword();
      const id = nextId(now);
      const service = await state.write(async (tx) => {
        const organization = await organizations.lock(tx, organizationId);
        const created = await build(tx, organization, wanted, {
          organizationId,
          id,
          now,
          settings: hashPassword(password),
          caller,
        });
        await assertRoom(tx, organizationId);
        await insertServices(tx, [created]);
        await audit.record(tx, actor, {
          organizationId,
          type: 'service_create',
          resource: { type: 'service', id },
          serviceId: id,
          after: toAuditFields(created),
        });
        if (created.settings?.restore)
          await audit.record(tx, actor, {
            organizationId,
            type: 'service_restore_backup',
            resource: { type: 'service', id },
            serviceId: id,
            after: created.settings.restore,
          });
        await inTransaction?.(tx, created);
        return created;
      });
      return { service, password };
    },

    /** Changes the name, the IP access list and the tags. */
    update: (actor: Actor, organizationId: string, id: string, wanted: ServiceUpdate): Promise<Readonly<Service>> =>
      writer.change(actor, organizationId, id, ({ service }) => {
        const { ipAccessList = [], tags = [] } = service.details;
        const details = {
          ...service.details,
          ...(wanted.ipAccessList && {
            ipAccessList: patchList(ipAccessList, wanted.ipAccessList, toIpAccess, ({ source }) => source),
          }),
          ...(wanted.tags && { tags: patchList(tags, wanted.tags, toTag, ({ key }) => key) }),
        };
        rejectViolations(limitViolations(details));
        const after: Service = { ...service, name: wanted.name ?? service.name, details };
        const activities = listUpdates(service, after);
        return activities.length === 0 ? undefined : { after, activities };
      }),

    command: (
      actor: Actor,
      organizationId: string,
      id: string,
      command: Command,
      { allowEmpty = false }: CommandOptions = {},
    ): Promise<Readonly<Service>> =>
      writer.change(actor, organizationId, id, ({ service }) => {
        const now = clock.now();
        if (allowEmpty) rejectViolations(emptyViolations(service, command));
        const commanded = applyCommand(service, command, now, getTransitionMs(service.driver));
        if (!commanded) return undefined;
        // As a new service, whose data directory is created.
        if (allowEmpty) commanded.observed.state = 'provisioning';
        const { restore: _, ...emptySettings } = service.settings ?? {};
        const settings = allowEmpty ? { settings: emptySettings } : undefined;
        if (command === 'awake') commanded.observed.lastWake = { at: now, cause: 'command' };
        const activity = {
          type: COMMAND_ACTIVITIES[command],
          before: { state: observe(service, now).state },
          after: { state: commanded.observed.state, ...(allowEmpty ? { allowEmpty } : undefined) },
        };
        return { after: { ...service, ...commanded, ...settings }, activities: [activity] };
      }),

    /** Stores the hashes of the client, or of a new password, which is returned. */
    async setPassword(
      actor: Actor,
      organizationId: string,
      id: string,
      wanted: PasswordHashes,
    ): Promise<string | undefined> {
      rejectViolations(passwordViolations(wanted));
      const password = wanted.passwordHash === undefined ? newServicePassword() : undefined;
      const hashes = password === undefined ? pickHashes(wanted) : hashPassword(password);
      await writer.change(actor, organizationId, id, ({ service }) => {
        const { passwordDoubleSha1Hash: _, ...settings } = service.settings ?? {};
        return {
          after: { ...service, settings: { ...settings, ...hashes } },
          activities: [{ type: 'service_update_password' }],
        };
      });
      return password;
    },

    remove(actor: Actor, organizationId: string, id: string): Promise<void> {
      const now = clock.now();
      return writer.remove(actor, organizationId, id, now, async (tx, service) => {
        const current = getCommandedState(service, now, getTransitionMs(service.driver));
        if (!isDeletable(current))
          throw new AppError('conflict', `The service is ${current}; stop it before you delete it`);
        await assertNoChildren(tx, service);
        return [{ type: 'service_delete', before: toAuditFields(service) }];
      });
    },
  };
}

const emptyViolations = ({ driver }: Readonly<Service>, command: Command): Violation[] => {
  const rule =
    command !== 'start'
      ? 'The value is allowed only with the command start'
      : driver !== 'embedded'
        ? `The value is allowed only for embedded services; the driver of this one is ${driver}`
        : undefined;
  return rule === undefined ? [] : [{ path: 'allowEmpty', rule, value: true }];
};

const COMMAND_ACTIVITIES = {
  start: 'service_start',
  stop: 'service_stop',
  awake: 'service_awaken',
} as const satisfies Record<Command, ActivityType>;

const pickHashes = ({ passwordHash, passwordDoubleSha1Hash }: PasswordHashes): ServiceSettings => ({
  ...(passwordHash && { passwordHash }),
  ...(passwordDoubleSha1Hash && { passwordDoubleSha1Hash: passwordDoubleSha1Hash.toLowerCase() }),
});

const passwordViolations = ({ passwordHash, passwordDoubleSha1Hash }: PasswordHashes): Violation[] =>
  passwordDoubleSha1Hash && passwordHash === undefined
    ? [{ path: 'newPasswordHash', rule: 'The value is required with newDoubleSha1Hash', value: MISSING }]
    : [];

/** The first service of a warehouse is deleted last. */
async function assertNoChildren(tx: Db, { id, organizationId, dataWarehouseId, isPrimary }: Service): Promise<void> {
  if (!isPrimary) return;
  const children = (await listWarehouses(tx, organizationId, [dataWarehouseId])).filter((other) => other.id !== id);
  if (children.length > 0)
    throw new AppError(
      'conflict',
      `The service is the first of its warehouse; delete the other services of the warehouse first: ${children
        .map(({ id }) => id)
        .slice(0, 10)
        .join(', ')}`,
    );
}
