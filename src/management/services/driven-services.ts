import { AppError } from '../../kernel/errors.ts';
import type { LeasedState } from '../../platform/leases/session.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Actor } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Wake } from './driver.ts';
import { ownsResource, readControlPlaneId } from './owner-store.ts';
import type { Service, ServiceSize } from './service.ts';
import { createServiceWriter, type Observing } from './service-writer.ts';
import {
  type DrivenId,
  deleteRemoval,
  findService,
  listDriven,
  listRemovals,
  listServices,
  listUnsettled,
} from './store.ts';

export type { DrivenId };
export type DrivenServices = ReturnType<typeof createDrivenServices>;
export type ServiceChanges = ReturnType<DrivenServices['under']>;

export const RECONCILER: Actor = { type: 'system', id: 'reconciler', details: 'Reconciler' };

export const STOPPED_FOR_BACKUP = 'The service is stopped; start it to back it up';

interface Options {
  state: Pick<State, 'db' | 'write'>;
  audit: Audit;
}

/** The services that a driver runs, of all organizations. */
export function createDrivenServices({ state, audit }: Options) {
  return {
    list: (): Promise<DrivenId[]> => listDriven(state.db),

    /** Services that have not converged. */
    listUnsettled: (): Promise<DrivenId[]> => listUnsettled(state.db),

    find: (organizationId: string, id: string): Promise<Readonly<Service> | undefined> =>
      findService(state.db, organizationId, id),

    /** The backups that services of an organization still get their data from, on any node. */
    async listRestoring(organizationId: string, db: Db): Promise<string[]> {
      const services = await listServices(db, organizationId);
      return services.flatMap(({ settings, observed, settledGeneration }) =>
        settings?.restore && (observed.state === 'provisioning' || settledGeneration === 0)
          ? [settings.restore.backupId]
          : [],
      );
    },

    /** Tells the store from those of other control planes. */
    readControlPlaneId: (): Promise<string> => readControlPlaneId(state),

    /** Deleted services that the driver still has to remove. */
    listRemovals: (): Promise<Service[]> => listRemovals(state.db),

    /** Changes by the process that holds the lease of a service. */
    under: (leased: LeasedState) => createServiceChanges(leased, audit),
  };
}

function createServiceChanges(state: LeasedState, audit: Audit) {
  const { clock } = state;
  const writer = createServiceWriter({ state, audit });

  return {
    /** Whether the service may drive its resource: no other service of the store does. */
    ownsResource: (service: Readonly<Service>): Promise<boolean> => ownsResource(state, service),

    removed: (service: Service): Promise<void> => state.write((tx) => deleteRemoval(tx, service)),

    /**
     * Stores what the driver reported. `change` gets the stored service, which a command may have changed since it was
     * read. Undefined if the service was deleted.
     */
    observed: (
      service: Pick<Service, 'organizationId' | 'id'>,
      change: (service: Readonly<Service>) => Observing,
    ): Promise<Readonly<Service> | undefined> => writer.observe(RECONCILER, service, change),

    /** Assigns an embedded service to a data directory, unless it has one. Returns the directory that it has. */
    async place(service: Readonly<Service>, directoryId: string): Promise<string | undefined> {
      const after = await this.observed(service, ({ observed }) => ({
        observed: { ...observed, placement: observed.placement ?? directoryId },
      }));
      return after?.observed.placement;
    },

    /** Lets a running service idle, unless it was changed since `generation`. */
    idle: ({ organizationId, id, generation }: Readonly<Service>, reason: string): Promise<Readonly<Service>> =>
      writer.change(RECONCILER, organizationId, id, ({ service }) => {
        if (service.generation !== generation || service.desiredState !== 'running') return undefined;
        const observed = { ...service.observed, state: 'stopping', since: clock.now(), reason } as const;
        const activity = {
          type: 'service_idle',
          before: { state: 'running' },
          after: { state: 'idle', reason },
        } as const;
        return { after: { ...service, desiredState: 'idle', observed }, activities: [activity] };
      }),

    /** Starts an idle service for a query or a backup. A service that is running or starting is not changed. */
    wake(organizationId: string, id: string, wake: Wake): Promise<Readonly<Service>> {
      const { address, userAgent, cause } = wake;
      const actor: Actor = {
        type: 'system',
        ...(cause === 'backup' ? { id: 'backups', details: 'Backup' } : { id: 'proxy', details: 'Query' }),
        ...(address === undefined ? undefined : { address }),
        ...(userAgent === undefined ? undefined : { userAgent }),
      };
      return writer.change(actor, organizationId, id, ({ service }) => {
        if (service.desiredState === 'stopped')
          throw new AppError(
            'conflict',
            cause === 'backup' ? STOPPED_FOR_BACKUP : 'The service is stopped; start it to run queries',
          );
        if (service.desiredState === 'running') return undefined;
        const { reason: _, ...before } = service.observed;
        const observed = { ...before, state: 'awaking', since: clock.now(), lastWake: wake } as const;
        const activity = {
          type: 'service_awaken',
          before: { state: service.observed.state },
          after: { state: 'awaking', ...wake },
        } as const;
        return { after: { ...service, desiredState: 'running', observed }, activities: [activity] };
      });
    },

    /** Sets the size within the limits of the service. */
    resize: (
      actor: Actor,
      organizationId: string,
      id: string,
      size: ServiceSize,
      reason: string,
    ): Promise<Readonly<Service>> =>
      writer.change(actor, organizationId, id, ({ service }) => {
        const { size: before } = service;
        if (before?.memoryGb === size.memoryGb && before.replicas === size.replicas) return undefined;
        const activity = { type: 'service_resize', ...(before && { before }), after: { ...size, reason } } as const;
        return { after: { ...service, size }, activities: [activity] };
      }),
  };
}
