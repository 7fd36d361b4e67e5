import { isUuid } from '../../../kernel/ids.ts';
import { createLargeCache } from '../../../kernel/memo.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Entities } from '../entities.ts';
import { ENTITY_TYPES, type Entity, type EntityRef, entityKey } from '../entity.ts';

/** How long an entity counts as existing without being read again. */
const FRESH_MS = 2 * SECOND_MS;
const MAX_CACHED = 200_000;

interface Cached {
  entity: Entity;
  /** By the monotonic clock. */
  readAt: number;
}

/** An entity of a batch, as far as known. */
interface Use extends Partial<Cached> {
  ref: EntityRef;
}

export interface BatchEntities {
  /** Finds an entity that was read before. */
  find(entityType: string, entityId: string): Entity | undefined;
  /** Reads the entities again that were not found or were read some time ago. True if `find` has other results now. */
  refresh(): Promise<boolean>;
}

/**
 * Finds the entities of events. A batch is validated with the entities that are known already; those that it names are
 * then read, and only if this changes a result, the batch is validated again.
 */
export function createEntityCache({ entities, clock }: { entities: Entities; clock: Clock }) {
  const cache = createLargeCache<string, Cached>(MAX_CACHED);

  return (organizationId: string): BatchEntities => {
    const uses = new Map<string, Use>();
    const cacheKey = (key: string) => `${organizationId} ${key}`;

    return {
      find(entityType, entityId) {
        const ref = toRef(entityType, entityId);
        if (!ref) return undefined;
        const key = entityKey(ref);
        let use = uses.get(key);
        if (!use) {
          use = { ref, ...cache.get(cacheKey(key)) };
          uses.set(key, use);
        }
        return use.entity;
      },

      async refresh() {
        const readAt = clock.monotonicMs();
        const outdated = [...uses.values()].filter((use) => !use.entity || (use.readAt ?? 0) < readAt - FRESH_MS);
        const found = await entities.find(
          organizationId,
          outdated.map(({ ref }) => ref),
        );
        let isChanged = false;
        for (const use of outdated) {
          const key = entityKey(use.ref);
          const entity = found.get(key);
          if (!entity !== !use.entity) isChanged = true;
          if (entity) cache.set(cacheKey(key), { entity, readAt });
          else cache.delete(cacheKey(key));
          uses.set(key, { ref: use.ref, ...(entity && { entity, readAt }) });
        }
        return isChanged;
      },
    };
  };
}

/** Undefined if no entity can have the type or the id. */
function toRef(entityType: string, entityId: string): EntityRef | undefined {
  const type = ENTITY_TYPES.find((name) => name === entityType);
  return type && isUuid(entityId) ? { entityType: type, entityId: entityId.toLowerCase() } : undefined;
}
