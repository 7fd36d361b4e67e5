import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import { createQueue } from '../../../kernel/tasks/queue.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import { createExpiry } from '../../../platform/leases/expiry.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { Entities } from '../entities.ts';
import { createEntityCache } from './batch-entities.ts';
import { createBatchQueue } from './batch-queue.ts';
import { createCountedIds } from './counted-ids.ts';
import { type EngineBinding, wrongEngine } from './engine-binding.ts';
import type { EngineOwner } from './engine-owner.ts';
import { countAccepted } from './engine-store.ts';
import { createEventValidator } from './event.ts';
import { EVENT_COLUMNS, type EventBatch, type RejectedEvent, readBatch } from './event-batch.ts';
import type { EventTexts } from './event-texts.ts';
import { countByDay, selectNewEvents, splitInserts } from './new-events.ts';
import {
  findLease,
  type IntakeLease,
  listUnfinishedLeases,
  markDaysChanged,
  putLease,
  readLockedThrough,
} from './store.ts';

interface Options {
  state: State;
  engine: Engine;
  binding: EngineBinding;
  owner: EngineOwner;
  clock: Clock;
  organizations: Organizations;
  entities: Entities;
  log: { warn(details: object, text: string): void };
}

export interface IntakeResult {
  accepted: number;
  duplicates: number;
  rejected: number;
  /** The first of the rejected events. */
  errors: RejectedEvent[];
}

/** Longer than any insert takes. An older lease belongs to a node that has stopped. */
const LEASE_MS = MINUTE_MS;
const MAX_LEASE_WAIT_MS = 20 * SECOND_MS;
const LEASE_RETRY_MS = 100;

export type Intake = ReturnType<typeof createIntake>;

/**
 * Stores metered usage. Accepted events are on disk and count once: intake marks their days as changed, stores the
 * events with their ids, and marks the days again. A batch that was interrupted at any point can be sent again: the
 * engine counts equal rows once, and marked days are rated again.
 */
export function createIntake({ state, engine, binding, owner, clock, organizations, entities, log }: Options) {
  const countedIds = createCountedIds({ engine, log });
  // An embedded engine has one owner at a time, so it may finish any lease that an earlier one left.
  const holder = owner.isExclusive ? 'embedded' : newUuid();
  const batchQueue = createBatchQueue(storeBatches);
  const longBatches = createQueue({ concurrency: 1 });
  const findEntities = createEntityCache({ entities, clock });
  const expiry = createExpiry(clock, LEASE_MS);

  async function read(organizationId: string, texts: () => EventTexts): Promise<EventBatch> {
    const now = clock.now();
    const named = findEntities(organizationId);
    const readTexts = () => readBatch(organizationId, texts(), createEventValidator(named, now), longBatches);
    const batch = await readTexts();
    return (await named.refresh()) ? readTexts() : batch;
  }

  /** Whether another node is storing. */
  function isHeldByOther(organizationId: string, lease: IntakeLease | undefined, now: number): boolean {
    if (!lease || lease.holder === holder || lease.days.length === 0) {
      expiry.forget(organizationId);
      return false;
    }
    return !expiry.isExpired(organizationId, { ...lease, renewedAt: lease.expiresAt - LEASE_MS }, now);
  }

  /** False while another node holds the lease of the organization. */
  async function tryToAcquireLease(organizationId: string, days: readonly Day[]): Promise<boolean> {
    const now = await state.now();
    const previous = await state.write(async (tx) => {
      await requireEngine(tx);
      await organizations.lock(tx, organizationId);
      const lease = await findLease(tx, organizationId);
      if (isHeldByOther(organizationId, lease, now)) return 'held';
      await markChanged(tx, organizationId, [...new Set([...(lease?.days ?? []), ...days])]);
      await putLease(tx, organizationId, { holder, expiresAt: now + LEASE_MS, days: [...days] });
      return lease?.holder;
    });
    if (previous === 'held') return false;
    // Another node may have stored ids that the filter lacks.
    if (previous !== holder) countedIds.evict(organizationId);
    return true;
  }

  async function acquireLease(organizationId: string, days: readonly Day[]): Promise<void> {
    for (let waitedMs = 0; !(await tryToAcquireLease(organizationId, days)); waitedMs += LEASE_RETRY_MS) {
      if (waitedMs >= MAX_LEASE_WAIT_MS)
        throw new AppError('unavailable', 'Another node is storing usage for this organization', {
          retryAfterSeconds: 5,
        });
      await delay(LEASE_RETRY_MS);
    }
  }

  /** `accepted` is empty if the events may not be stored. */
  async function releaseLease(
    organizationId: string,
    days: readonly Day[],
    accepted: ReadonlyMap<Day, number>,
  ): Promise<void> {
    await state.write(async (tx) => {
      if (accepted.size > 0) await requireEngine(tx);
      await organizations.lock(tx, organizationId);
      await markChanged(tx, organizationId, days);
      const lease = await findLease(tx, organizationId);
      // Another node that took the lease over may have counted the same events.
      if (lease?.holder !== holder) return;
      await countAccepted(tx, organizationId, accepted);
      await putLease(tx, organizationId, { ...lease, days: [] });
    });
  }

  /** The owner and the engine must not change until the transaction ends. */
  async function requireEngine(tx: Db): Promise<void> {
    await owner.require(tx);
    await binding.require(tx);
  }

  async function markChanged(tx: Db, organizationId: string, days: readonly Day[]): Promise<void> {
    await markDaysChanged(tx, organizationId, days, await readLockedThrough(tx, organizationId));
  }

  /** Returns the number of new events of each batch. An id counts in the first batch that contains it. */
  async function storeBatches(organizationId: string, batches: readonly EventBatch[]): Promise<number[]> {
    const days = listDays(batches);
    if (days.length === 0) return batches.map(() => 0);
    const mismatch = await binding.findMismatch();
    if (mismatch) throw wrongEngine(mismatch);
    await acquireLease(organizationId, days);
    let accepted: ReadonlyMap<Day, number> = new Map();
    try {
      const counted = await countedIds.findCounted(
        organizationId,
        batches.flatMap(({ hashes }) => hashes),
      );
      const newEvents = batches.map((batch) => selectNewEvents(batch, counted));
      // Added before the insert, since a failed insert may have stored some of them.
      for (const { hashes } of newEvents) countedIds.add(organizationId, hashes);
      for (const lines of splitInserts(newEvents, days)) await engine.insertTsv('usage_events', EVENT_COLUMNS, lines);
      accepted = countByDay(newEvents);
      return newEvents.map(({ hashes }) => hashes.length);
    } finally {
      await releaseLease(organizationId, days, accepted);
    }
  }

  return {
    /** Validates the whole batch before it stores any of it. `texts` may be called more than once. */
    async ingest(organizationId: string, texts: () => EventTexts): Promise<IntakeResult> {
      const batch = await read(organizationId, texts);
      const accepted = await batchQueue.store(organizationId, batch);
      const { hashes, repeated, rejected, errors } = batch;
      return { accepted, duplicates: hashes.length - accepted + repeated, rejected, errors };
    },

    /** Marks the days of batches that a stopped process left unfinished, so that they are rated again. */
    async recoverUnfinished(): Promise<void> {
      for (const organizationId of await listUnfinishedLeases(state.db)) {
        const now = await state.now();
        await state.write(async (tx) => {
          await owner.require(tx);
          await organizations.lock(tx, organizationId);
          const lease = await findLease(tx, organizationId);
          if (!lease || lease.days.length === 0 || !batchQueue.isIdle(organizationId)) return;
          if (isHeldByOther(organizationId, lease, now)) return;
          await markChanged(tx, organizationId, lease.days);
          await putLease(tx, organizationId, { ...lease, days: [] });
        });
      }
    },
  };
}

function listDays(batches: readonly EventBatch[]): Day[] {
  const days = new Set<Day>();
  let previous: Day | undefined;
  for (const batch of batches)
    for (const day of batch.days) {
      // Most events are of the same day as the one before.
      if (day !== previous) days.add(day);
      previous = day;
    }
  return [...days].sort();
}
