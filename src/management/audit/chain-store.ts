import type { LRUCache } from 'lru-cache';
import { AppError } from '../../kernel/errors.ts';
import {
  appendToChain,
  type ChainedColumns,
  type ChainHead,
  encodeActivity,
} from '../../platform/state/activity-chain.ts';
import { lockRows } from '../../platform/state/locking.ts';
import { prepared } from '../../platform/state/prepared.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { ActivityRow, Db } from '../../platform/state/tables.ts';

/** The last known head of each organization. A guess: the store decides. */
export type KnownHeads = LRUCache<string, ChainHead>;

/**
 * Adds activities to the chain of their organization, in the transaction of the change. The update of the head makes other
 * transactions of the organization wait, so the chain has no gaps and no forks. The known head saves a read; it is wrong after a
 * rollback, or after a change by another process: then the update changes no row, and the head is read.
 */
export async function appendActivities(tx: Db, rows: readonly ChainedColumns[], known: KnownHeads): Promise<void> {
  const organizationId = rows[0]?.organization_id;
  if (organizationId === undefined) return;
  for (let head = known.get(organizationId); ; head = await lockHead(tx, organizationId)) {
    if (!head) continue;
    const chained = chainRows(head, rows);
    const { sequence, hash } = chained.at(-1) as ChainHead;
    const changed = await updateHead.execute(tx, { organizationId, previousHash: head.hash, sequence, hash });
    if (changed === 0) continue;
    known.set(organizationId, { sequence, hash });
    return insertRows(tx, chained);
  }
}

function chainRows(previous: ChainHead, rows: readonly ChainedColumns[]): ActivityRow[] {
  let head = previous;
  return rows.map((row) => {
    head = appendToChain(head, encodeActivity(row));
    return { ...row, ...head };
  });
}

const updateHead = prepared((db: Db, value: ChainHead & { organizationId: string; previousHash: string }) =>
  db
    .updateTable('organizations')
    .set({ audit_sequence: value.sequence, audit_hash: value.hash })
    .where('id', '=', value.organizationId)
    .where('audit_hash', '=', value.previousHash),
);

const insertRows = preparedRows<ActivityRow>(
  [
    'organization_id',
    'id',
    'created_at',
    'document',
    'type',
    'actor_id',
    'actor_name',
    'resource_id',
    'sequence',
    'hash',
  ],
  (db, rows) => db.insertInto('activities').values(rows),
);

/** Other transactions wait until this one ends. */
async function lockHead(tx: Db, organizationId: string): Promise<ChainHead> {
  const row = await selectAndLockHead.first(tx, { organizationId });
  if (!row) throw missing(organizationId);
  return { sequence: row.audit_sequence, hash: row.audit_hash };
}

const selectAndLockHead = prepared((db: Db, value: { organizationId: string }) =>
  lockRows(
    db,
    db.selectFrom('organizations').select(['audit_sequence', 'audit_hash']).where('id', '=', value.organizationId),
  ),
);

export async function readHead(db: Db, organizationId: string): Promise<ChainHead> {
  const row = await db
    .selectFrom('organizations')
    .select(['audit_sequence', 'audit_hash'])
    .where('id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw missing(organizationId);
  return { sequence: row.audit_sequence, hash: row.audit_hash };
}

/** The newest activity that retention removed; the empty chain if there is none. */
export interface Anchor extends ChainHead {
  removedAt: number;
}

export async function readAnchor(db: Db, organizationId: string): Promise<Anchor> {
  const row = await db
    .selectFrom('organizations')
    .select(['audit_removed_sequence', 'audit_removed_hash', 'audit_removed_at'])
    .where('id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw missing(organizationId);
  return { sequence: row.audit_removed_sequence, hash: row.audit_removed_hash, removedAt: row.audit_removed_at };
}

export async function updateAnchor(tx: Db, organizationId: string, anchor: Anchor): Promise<void> {
  await tx
    .updateTable('organizations')
    .set({
      audit_removed_sequence: anchor.sequence,
      audit_removed_hash: anchor.hash,
      audit_removed_at: anchor.removedAt,
    })
    .where('id', '=', organizationId)
    .execute();
}

export async function deleteLinks(tx: Db, organizationId: string, through: number): Promise<void> {
  await tx
    .deleteFrom('activities')
    .where('organization_id', '=', organizationId)
    .where('sequence', '<=', through)
    .execute();
}

/** The newest activity about a removal. */
export async function findLastRemoval(db: Db, organizationId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('activities')
    .select('document')
    .where('organization_id', '=', organizationId)
    .where('type', '=', 'audit_retention')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.document;
}

const missing = (organizationId: string) => new AppError('not_found', `organization ${organizationId} does not exist`);

/** A page of the audit log in the order of the chain, up to and including `lastSequence`. */
export async function listLinks(
  db: Db,
  organizationId: string,
  { after, lastSequence, limit }: { after: Position | undefined; lastSequence: number; limit: number },
): Promise<ActivityRow[]> {
  let query = db
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '<=', lastSequence);
  if (after)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('sequence', 'id'), '>', tuple(after.sequence, after.id)),
    );
  return query.orderBy('sequence').orderBy('id').limit(limit).execute();
}

type Position = Pick<ActivityRow, 'sequence' | 'id'>;

/** More than one if a row was inserted. */
export async function listLinksAt(db: Db, organizationId: string, sequence: number): Promise<ActivityRow[]> {
  return db
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '=', sequence)
    .orderBy('id')
    .limit(2)
    .execute();
}

/** The first row after a number. */
export async function findLinkAfter(db: Db, organizationId: string, sequence: number): Promise<Position | undefined> {
  return db
    .selectFrom('activities')
    .select(['sequence', 'id'])
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst();
}
