import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Actor } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import { type LockedService, lockService, updateDocument } from './change-store.ts';
import type { Observation } from './driver.ts';
import { missingService } from './missing-service.ts';
import { releaseOtherResources } from './owner-store.ts';
import type { Service } from './service.ts';
import type { ServiceActivity } from './service-activities.ts';
import { deleteService, toNextGeneration, updateObserved, updateService } from './store.ts';

interface Changed {
  after: Readonly<Service>;
  activities: readonly ServiceActivity[];
}

/** What a driver reported, and the generation that it has reached. */
export interface Observing {
  observed: Observation;
  settledGeneration?: number | undefined;
  activities?: readonly ServiceActivity[];
}

type ServiceRef = Pick<Service, 'organizationId' | 'id'>;

/** Every change of one service: locks it, stores the change and records its activities in one transaction. */
export function createServiceWriter({ state, audit }: { state: Pick<State, 'write'>; audit: Audit }) {
  async function record(tx: Db, actor: Actor, { organizationId, id }: ServiceRef, activities: Changed['activities']) {
    const resource = { type: 'service', id } as const;
    for (const activity of activities)
      await audit.record(tx, actor, { organizationId, resource, serviceId: id, ...activity });
  }

  return {
    /** Stores what `change` returns as a new generation; nothing if it returns undefined. */
    change: (
      actor: Actor,
      organizationId: string,
      id: string,
      change: (locked: LockedService) => Changed | undefined,
    ): Promise<Readonly<Service>> =>
      state.write(
        async (tx) => {
          const locked = await lockService(tx, organizationId, id);
          if (!locked) throw missingService(id);
          const changed = change(locked);
          if (!changed) return locked.service;
          const { after, activities } = changed;
          if (isOnlyDocument(locked.service, after)) await updateDocument(tx, after);
          else await updateService(tx, locked.service, after);
          await record(tx, actor, after, activities);
          return { ...after, generation: toNextGeneration(after) };
        },
        { organizationId, id },
      ),

    /** Stores an observation, which is no new generation. Undefined if the service was deleted meanwhile. */
    observe: (
      actor: Actor,
      { organizationId, id }: ServiceRef,
      change: (service: Readonly<Service>) => Observing,
    ): Promise<Readonly<Service> | undefined> =>
      state.write(
        async (tx) => {
          const locked = await lockService(tx, organizationId, id);
          if (!locked) return undefined;
          const { observed, settledGeneration, activities = [] } = change(locked.service);
          const after = { ...locked.service, observed };
          await updateObserved(tx, after, settledGeneration);
          const isNewlySettled = settledGeneration !== undefined && settledGeneration !== after.settledGeneration;
          if (isNewlySettled) await releaseOtherResources(tx, after);
          await record(tx, actor, after, activities);
          return after;
        },
        { organizationId, id },
      ),

    /** `check` throws if the service must not be deleted; otherwise it returns the activities. May depend on other services. */
    remove: (
      actor: Actor,
      organizationId: string,
      id: string,
      now: number,
      check: (tx: Db, service: Readonly<Service>) => Promise<Changed['activities']>,
    ): Promise<void> =>
      state.write(async (tx) => {
        const locked = await lockService(tx, organizationId, id);
        if (!locked) throw missingService(id);
        const activities = await check(tx, locked.service);
        await deleteService(tx, locked.service, now);
        await record(tx, actor, locked.service, activities);
      }),
  };
}

/** Whether all other columns and the tags stay the same. Members that a change keeps are the same objects. */
const isOnlyDocument = (before: Readonly<Service>, after: Readonly<Service>): boolean =>
  before.name === after.name && before.details === after.details && before.observed === after.observed;
