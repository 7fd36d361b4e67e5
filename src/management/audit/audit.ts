import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../kernel/errors.ts';
import { createTimeOrderedIds, firstIdAt } from '../../kernel/ids.ts';
import { createLargeCache } from '../../kernel/memo.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { ChainedColumns, ChainHead } from '../../platform/state/activity-chain.ts';
import { batched } from '../../platform/state/postgres/batched.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Activity, Actor, Change } from './activity.ts';
import { appendActivities, type KnownHeads } from './chain-store.ts';
import {
  type ActivityFilter,
  type Alternatives,
  containsText,
  listConditions,
  matchesColumns,
  mayContainText,
} from './filter.ts';
import {
  type ActivityCandidate,
  type ActivityRange,
  findActivity,
  listCandidates,
  toActivity,
  toRow,
} from './store.ts';
import { type Verification, verifyChain } from './verification.ts';

const CANDIDATES_PER_QUERY = 1000;
/** After reading this many candidates, a request returns the matches so far. */
const MAX_CANDIDATES = 50_000;
/** After the clock was set back, ids are ahead of `createdAt` by at most this much. */
const MAX_ID_LEAD_MS = 60 * 60 * 1000;
const MAX_KNOWN_HEADS = 10_000;

interface ActivityPage {
  activities: Activity[];
  /** Continues the list as the next `before`; undefined at its end. */
  nextBefore: string | undefined;
}

export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ db, clock }: { db: Db; clock: Clock }) {
  let nextId = createTimeOrderedIds();
  let latestMs = 0;
  const heads: KnownHeads = createLargeCache(MAX_KNOWN_HEADS);
  const append = batched((tx, rows: readonly ChainedColumns[]) => appendActivities(tx, rows, heads));

  function createRow(actor: Actor, change: Change): ChainedColumns {
    const createdAt = clock.now();
    if (createdAt < latestMs - MAX_ID_LEAD_MS) {
      nextId = createTimeOrderedIds();
      latestMs = 0;
    }
    latestMs = Math.max(latestMs, createdAt);
    return toRow({ id: nextId(createdAt), createdAt, actor, ...change });
  }

  return {
    /** Runs in the transaction of the change: either both are stored or neither is. */
    record: (tx: Db, actor: Actor, change: Change): Promise<void> => append(tx, [createRow(actor, change)]),

    /** As `record`, for many changes of one organization, whose row the transaction must have locked. */
    recordAll: (tx: Db, actor: Actor, changes: readonly Change[]): Promise<void> =>
      append(
        tx,
        changes.map((change) => createRow(actor, change)),
      ),

    /** Checks the hash chain of an organization. `expected` is a head that was noted earlier. */
    verify: (organizationId: string, expected?: ChainHead): Promise<Verification> =>
      verifyChain(db, organizationId, expected),

    /** Newest first. An index serves the most selective condition; the others are checked on at most `MAX_CANDIDATES` rows. */
    async list(
      organizationId: string,
      filter: ActivityFilter,
      { before, limit }: { before?: string | undefined; limit: number },
    ): Promise<ActivityPage> {
      const [indexed, ...rest] = listConditions(filter);
      const isMatch = createMatcher(rest, filter.texts);
      const perQuery = rest.length > 0 || filter.texts !== undefined ? CANDIDATES_PER_QUERY : limit + 1;
      const activities: Activity[] = [];
      const range = toRange(filter, before);
      for (let read = 0; read < MAX_CANDIDATES; read += perQuery) {
        const rows = await listCandidates(db, organizationId, indexed, range, perQuery);
        for (const row of rows) {
          if (!isMatch(row)) continue;
          if (activities.length === limit) return { activities, nextBefore: activities.at(-1)?.id };
          activities.push(toActivity(row));
        }
        if (rows.length < perQuery) return { activities, nextBefore: undefined };
        range.beforeId = rows.at(-1)?.id;
        // Let other requests run.
        await setImmediate();
      }
      return { activities, nextBefore: range.beforeId };
    },

    async get(organizationId: string, id: string): Promise<Activity> {
      const activity = await findActivity(db, organizationId, id);
      if (!activity) throw new AppError('not_found', `activity ${id} does not exist`);
      return activity;
    },
  };
}

/** Checks the conditions that the index does not cover. */
const createMatcher =
  (conditions: readonly Alternatives[], texts: readonly string[] | undefined) =>
  (row: ActivityCandidate): boolean =>
    conditions.every((condition) => matchesColumns(row, condition)) &&
    (texts === undefined || (mayContainText(row.document, texts) && containsText(toActivity(row), texts)));

function toRange({ fromMs, toMs }: ActivityFilter, before: string | undefined): ActivityRange {
  const endId = toMs === undefined ? undefined : firstIdAt(toMs + MAX_ID_LEAD_MS);
  const ends = [before, endId].filter((id) => id !== undefined).sort();
  return { fromMs, toMs, fromId: fromMs === undefined ? undefined : firstIdAt(fromMs), beforeId: ends[0] };
}
