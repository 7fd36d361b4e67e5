import { sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { AppError } from '../../kernel/errors.ts';
import {
  appendToChain,
  type ChainedColumns,
  type ChainHead,
  encodeActivity,
} from '../../platform/state/activity-chain.ts';
import { deferToCommit, flushDeferred } from '../../platform/state/grouped-statements.ts';
import { lockRows } from '../../platform/state/locking.ts';
import { prepared } from '../../platform/state/prepared.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { ActivityRow, Db } from '../../platform/state/tables.ts';

/** The last known head of each organization. A guess: the store decides. */
export type KnownHeads = LRUCache<string, ChainHead>;

/**
 * Adds an activity to the chain of its organization, in the transaction of the change. Changes of an organization run one
 * at a time, so the chain has no gaps and no forks. On PostgreSQL, the changes of one commit add their activities together.
 */
export async function appendActivity(tx: Db, row: ChainedColumns, known: KnownHeads): Promise<void> {
  if (await deferToCommit(tx, appendDeferred, row)) return;
  const text = encodeActivity(row);
  await insert.first(tx, { ...row, ...(await advanceHead(tx, row.organization_id, text, known)) });
}

/** As `appendActivity`, for many activities of one organization: one update of its row, and few inserts. */
export async function appendActivities(tx: Db, rows: readonly ChainedColumns[], known: KnownHeads): Promise<void> {
  await flushDeferred(tx);
  const organizationId = rows[0]?.organization_id;
  if (organizationId === undefined) return;
  known.set(organizationId, await appendTogether(tx, organizationId, rows));
}

async function appendDeferred(tx: Db, rows: readonly ChainedColumns[]): Promise<void> {
  const [first] = rows;
  if (first && rows.length === 1) return appendOne(tx, first);
  // In the same order in every transaction, or two of them could wait for each other.
  for (const organizationId of [...new Set(rows.map((row) => row.organization_id))].sort())
    await appendTogether(
      tx,
      organizationId,
      rows.filter((row) => row.organization_id === organizationId),
    );
}

async function appendOne(tx: Db, row: ChainedColumns): Promise<void> {
  const inserted = await appendInOneStatement.execute(tx, { ...row, text: encodeActivity(row) });
  if (inserted === 0) throw missing(row.organization_id);
}

/** Returns the new head. */
async function appendTogether(tx: Db, organizationId: string, rows: readonly ChainedColumns[]): Promise<ChainHead> {
  const previous = await lockHead(tx, organizationId);
  let head: ChainHead = previous;
  const chained = rows.map((row) => {
    head = appendToChain(head, encodeActivity(row));
    return { ...row, ...head };
  });
  const changed = await updateHead.execute(tx, { organizationId, previousHash: previous.hash, ...head });
  if (changed === 0) throw new Error(`The audit log of organization ${organizationId} changed in the meantime`);
  await insertRows(tx, chained);
  return head;
}

/** PostgreSQL computes the hash: reading the head first would be one more round trip. */
const appendInOneStatement = prepared((db: Db, value: ChainedColumns & { text: string }) => ({
  compile: () =>
    sql<never>`WITH head AS (
      UPDATE organizations SET
        audit_sequence = audit_sequence + 1,
        audit_hash = encode(
          sha256(convert_to(audit_hash || chr(10) || (audit_sequence + 1) || chr(10) || ${value.text}::text, 'UTF8')), 'hex')
      WHERE id = ${value.organization_id}
      RETURNING id, audit_sequence, audit_hash
    )
    INSERT INTO activities
      (organization_id, id, created_at, document, type, actor_id, actor_name, resource_id, sequence, hash)
    SELECT
      id, ${value.id}::text, ${value.created_at}::bigint, ${value.document}::text, ${value.type}::text,
      ${value.actor_id}::text, ${value.actor_name}::text, ${value.resource_id}::text, audit_sequence, audit_hash
    FROM head`.compile(db),
}));

/**
 * One statement if the known head is the stored one. It is not after a rollback, or after a change by another process:
 * then the update changes no row, and the head is read.
 */
async function advanceHead(tx: Db, organizationId: string, text: string, known: KnownHeads): Promise<ChainHead> {
  let current = known.get(organizationId);
  for (;;) {
    if (current) {
      const next = appendToChain(current, text);
      const changed = await updateHead.execute(tx, { organizationId, previousHash: current.hash, ...next });
      if (changed > 0) {
        known.set(organizationId, next);
        return next;
      }
    }
    current = await readHead(tx, organizationId);
  }
}

const updateHead = prepared((db: Db, value: ChainHead & { organizationId: string; previousHash: string }) =>
  db
    .updateTable('organizations')
    .set({ audit_sequence: value.sequence, audit_hash: value.hash })
    .where('id', '=', value.organizationId)
    .where('audit_hash', '=', value.previousHash),
);

const insert = prepared((db: Db, value: ActivityRow) =>
  db.insertInto('activities').values({
    organization_id: value.organization_id,
    id: value.id,
    created_at: value.created_at,
    document: value.document,
    type: value.type,
    actor_id: value.actor_id,
    actor_name: value.actor_name,
    resource_id: value.resource_id,
    sequence: value.sequence,
    hash: value.hash,
  }),
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
