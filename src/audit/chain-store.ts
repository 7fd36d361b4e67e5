import { sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { AppError } from '../kernel/errors.ts';
import { appendToChain, type ChainedColumns, type ChainHead, encodeActivity } from '../state/activity-chain.ts';
import { isPostgres } from '../state/locking.ts';
import { prepared } from '../state/prepared.ts';
import { preparedRows } from '../state/prepared-rows.ts';
import type { ActivityRow, Db } from '../state/tables.ts';

/** The last known head of each organization. A guess: the store decides. */
export type KnownHeads = LRUCache<string, ChainHead>;

/**
 * Adds an activity to the chain of its organization, in the transaction of the change. Changes of an organization run one
 * at a time, so the chain has no gaps and no forks.
 */
export async function appendActivity(tx: Db, row: ChainedColumns, known: KnownHeads): Promise<void> {
  const text = encodeActivity(row);
  if (isPostgres(tx)) {
    const inserted = await appendInOneStatement.execute(tx, { ...row, text });
    if (inserted === 0) throw missing(row.organization_id);
    return;
  }
  await insert.first(tx, { ...row, ...(await advanceHead(tx, row.organization_id, text, known)) });
}

/** As `appendActivity`, for many activities of one organization: one update of its row, and few inserts. */
export async function appendActivities(tx: Db, rows: readonly ChainedColumns[], known: KnownHeads): Promise<void> {
  const organizationId = rows[0]?.organization_id;
  if (organizationId === undefined) return;
  const previous = await readHead(tx, organizationId);
  let head: ChainHead = previous;
  const chained = rows.map((row) => {
    head = appendToChain(head, encodeActivity(row));
    return { ...row, ...head };
  });
  const changed = await updateHead.execute(tx, { organizationId, previousHash: previous.hash, ...head });
  if (changed === 0) throw new Error(`The audit log of organization ${organizationId} changed in the meantime`);
  await insertRows(tx, chained);
  known.set(organizationId, head);
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

export async function readHead(db: Db, organizationId: string): Promise<ChainHead> {
  const row = await db
    .selectFrom('organizations')
    .select(['audit_sequence', 'audit_hash'])
    .where('id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw missing(organizationId);
  return { sequence: row.audit_sequence, hash: row.audit_hash };
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
