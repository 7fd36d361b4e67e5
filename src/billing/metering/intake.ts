import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from '../../engine/engine.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../kernel/clock.ts';
import type { Day } from '../../kernel/days.ts';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import type { Db } from '../../state/tables.ts';
import type { Entities, EntityMap } from '../entities.ts';
import { type Batch, EVENT_COLUMNS, type Rejection, readBatch } from './batch.ts';
import type { EventTexts } from './batch-text.ts';
import { createEventCheck } from './event.ts';
import { insertsOf, newOf } from './inserts.ts';
import { createKnownIds } from './known-ids.ts';
import { createLane } from './lane.ts';
import { findTurn, listUnfinishedTurns, lockedThrough, putTurn, touchDays } from './store.ts';
import { createTurns } from './turns.ts';

interface Options {
  state: State;
  engine: Engine;
  clock: Clock;
  organizations: Organizations;
  entities: Entities;
  log: { warn(details: object, text: string): void };
}

/** What became of a batch. */
export interface Taken {
  accepted: number;
  duplicates: number;
  rejected: number;
  /** The first of the rejected ones. */
  errors: Rejection[];
}

/** Longer than any insert takes; after that another node may believe that this one is gone. */
const TURN_MS = MINUTE_MS;
const WAIT_FOR_TURN_MS = 20 * SECOND_MS;
/** How old the list of known entities may be; an event for one that is not on it makes it be read again at once. */
const ENTITIES_MS = 2 * SECOND_MS;

export type Intake = ReturnType<typeof createIntake>;

/**
 * Takes metered usage in. What is answered as accepted is on disk and counts once: the days are marked, the events and
 * their ids are stored, the days are marked again. A batch that was cut off anywhere in between can be sent again: the
 * engine counts equal rows once, and the days that were marked are rated once more.
 */
export function createIntake({ state, engine, clock, organizations, entities, log }: Options) {
  const knownIds = createKnownIds({ engine, log });
  // The embedded engine belongs to one process, so whatever an earlier one left behind is ours to finish.
  const holder = engine.kind === 'embedded' ? 'embedded' : newUuid();
  const turns = createTurns(store);
  const lane = createLane();
  const directories = new Map<string, { entities: EntityMap; readAt: number }>();

  async function entitiesOf(organizationId: string, notBefore: number): Promise<EntityMap> {
    const known = directories.get(organizationId);
    if (known && known.readAt >= notBefore) return known.entities;
    const readAt = clock.now();
    const found = await entities.of(organizationId);
    directories.set(organizationId, { entities: found, readAt });
    return found;
  }

  async function read(organizationId: string, texts: () => EventTexts): Promise<Batch> {
    const now = clock.now();
    const known = await entitiesOf(organizationId, now - ENTITIES_MS);
    const batch = await readBatch(organizationId, texts(), createEventCheck(known, now), lane);
    if (!batch.hasUnknownEntity) return batch;
    const fresh = await entitiesOf(organizationId, now + 1);
    return readBatch(organizationId, texts(), createEventCheck(fresh, now), lane);
  }

  /** False while another node stores usage of the organization. */
  async function tryToBegin(organizationId: string, days: readonly Day[]): Promise<boolean> {
    const before = await state.write(async (tx) => {
      await organizations.take(tx, organizationId);
      const turn = await findTurn(tx, organizationId);
      const isTaken = turn && turn.holder !== holder && turn.days.length > 0 && turn.expiresAt > clock.now();
      if (isTaken) return 'taken';
      await touch(tx, organizationId, [...new Set([...(turn?.days ?? []), ...days])]);
      await putTurn(tx, organizationId, { holder, expiresAt: clock.now() + TURN_MS, days: [...days] });
      return turn?.holder;
    });
    if (before === 'taken') return false;
    if (before !== holder) knownIds.forget(organizationId);
    return true;
  }

  async function begin(organizationId: string, days: readonly Day[]): Promise<void> {
    for (let waited = 0; !(await tryToBegin(organizationId, days)); waited += 100) {
      if (waited >= WAIT_FOR_TURN_MS)
        throw new AppError('unavailable', 'Another node is storing usage of this organization', {
          retryAfterSeconds: 5,
        });
      await delay(100);
    }
  }

  async function finish(organizationId: string, days: readonly Day[]): Promise<void> {
    await state.write(async (tx) => {
      await organizations.take(tx, organizationId);
      await touch(tx, organizationId, days);
      const turn = await findTurn(tx, organizationId);
      if (turn?.holder === holder) await putTurn(tx, organizationId, { ...turn, days: [] });
    });
  }

  async function touch(tx: Db, organizationId: string, days: readonly Day[]): Promise<void> {
    await touchDays(tx, organizationId, days, await lockedThrough(tx, organizationId));
  }

  /** Stores batches together, as if one after the other; answers how many events of each were new. */
  async function store(organizationId: string, batches: readonly Batch[]): Promise<number[]> {
    const days = daysOf(batches);
    if (days.length === 0) return batches.map(() => 0);
    await begin(organizationId, days);
    try {
      const counted = await knownIds.among(
        organizationId,
        batches.flatMap(({ hashes }) => hashes),
      );
      const fresh = batches.map((batch) => newOf(batch, counted));
      // Before they are stored: if it fails half-way they may be there.
      for (const { hashes } of fresh) knownIds.add(organizationId, hashes);
      for (const text of insertsOf(fresh, days)) await engine.insertTsv('usage_events', EVENT_COLUMNS, text);
      return fresh.map(({ hashes }) => hashes.length);
    } finally {
      await finish(organizationId, days);
    }
  }

  return {
    /** Reads all of a batch before any of it is stored. `texts` may be asked for more than once. */
    async take(organizationId: string, texts: () => EventTexts): Promise<Taken> {
      const batch = await read(organizationId, texts);
      const accepted = await turns.enter(organizationId, batch);
      const { hashes, repeated, rejected, errors } = batch;
      return { accepted, duplicates: hashes.length - accepted + repeated, rejected, errors };
    },

    /** Days of batches that a process left unfinished are rated once more. */
    async resume(): Promise<void> {
      for (const organizationId of await listUnfinishedTurns(state.db)) {
        await state.write(async (tx) => {
          await organizations.take(tx, organizationId);
          const turn = await findTurn(tx, organizationId);
          if (!turn || turn.days.length === 0 || turns.isBusy(organizationId)) return;
          if (turn.holder !== holder && turn.expiresAt > clock.now()) return;
          await touch(tx, organizationId, turn.days);
          await putTurn(tx, organizationId, { ...turn, days: [] });
        });
      }
    },

    /** Resolves when everything handed in so far is stored or has failed. */
    idle: turns.idle,
  };
}

function daysOf(batches: readonly Batch[]): Day[] {
  const days = new Set<Day>();
  let last: Day | undefined;
  for (const batch of batches)
    for (const day of batch.days) {
      // Most events have the day of the one before.
      if (day !== last) days.add(day);
      last = day;
    }
  return [...days].sort();
}
