import type { State } from '../../platform/state/state.ts';
import type { Actor } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import { type LockedService, lockService } from './change-store.ts';
import { missingService } from './missing-service.ts';
import type { Service } from './service.ts';
import type { ServiceActivity } from './service-activities.ts';
import { toNextGeneration, updateService } from './store.ts';

interface Changed {
  after: Service;
  activities: ServiceActivity[];
}

export function createServiceWriter({ state, audit }: { state: State; audit: Audit }) {
  return {
    /** Locks the service, stores what `change` returns and records its activities; nothing if it returns undefined. */
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
          await updateService(tx, locked.service, changed.after);
          const resource = { type: 'service', id } as const;
          for (const activity of changed.activities)
            await audit.record(tx, actor, { organizationId, resource, serviceId: id, ...activity });
          return { ...changed.after, generation: toNextGeneration(changed.after) };
        },
        { organizationId, id },
      ),
  };
}
