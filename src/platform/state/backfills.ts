import { sql } from 'kysely';
import { toSortName } from '../../kernel/page.ts';
import { appendToChain, type ChainedColumns, type ChainHead, EMPTY_CHAIN, encodeActivity } from './activity-chain.ts';
import { isPostgres } from './locking.ts';
import type { ActivityRow, Db } from './tables.ts';
import { listTagRows } from './tag-rows.ts';

/** Steps that a migration needs in addition to its SQL, by migration name. They run in the same transaction. */
export const BACKFILLS: Record<string, (tx: Db) => Promise<void>> = {
  '0007-activity-filters': fillActivityFilters,
  '0011-audit-chain': chainActivities,
  '0015-list-names': fillSortNames,
  '0019-service-tags': fillServiceTags,
  '0020-growth': fillWarehouses,
  '0021-rate-windows': setUnlogged,
};

const ROWS_PER_BATCH = 1000;

interface Document {
  type: string;
  actor: { id: string; details: string };
  resource: { id: string };
}

async function fillActivityFilters(tx: Db): Promise<void> {
  for await (const rows of readBatches(tx, ['organization_id', 'id', 'created_at', 'document'])) {
    await tx
      .insertInto('activities')
      // The chain's columns are added by a later migration.
      .values(rows.map(withFilters) as ActivityRow[])
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'id']).doUpdateSet((eb) => ({
          type: eb.ref('excluded.type'),
          actor_id: eb.ref('excluded.actor_id'),
          actor_name: eb.ref('excluded.actor_name'),
          resource_id: eb.ref('excluded.resource_id'),
        })),
      )
      .execute();
  }
}

/** Chains the activities of each organization in the order of their ids, which is the order of time. */
async function chainActivities(tx: Db): Promise<void> {
  let organizationId = '';
  let head: ChainHead = EMPTY_CHAIN;
  for await (const rows of readBatches(tx, CHAINED_COLUMNS)) {
    const chained: ActivityRow[] = [];
    for (const row of rows) {
      if (row.organization_id !== organizationId) {
        await storeHead(tx, organizationId, head);
        organizationId = row.organization_id;
        head = EMPTY_CHAIN;
      }
      head = appendToChain(head, encodeActivity(row));
      chained.push({ ...row, ...head });
    }
    await tx
      .insertInto('activities')
      .values(chained)
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'id']).doUpdateSet((eb) => ({
          sequence: eb.ref('excluded.sequence'),
          hash: eb.ref('excluded.hash'),
        })),
      )
      .execute();
  }
  await storeHead(tx, organizationId, head);
}

const CHAINED_COLUMNS: readonly (keyof ChainedColumns)[] = [
  'organization_id',
  'id',
  'created_at',
  'document',
  'type',
  'actor_id',
  'actor_name',
  'resource_id',
];

async function storeHead(tx: Db, organizationId: string, { sequence, hash }: ChainHead): Promise<void> {
  await tx
    .updateTable('organizations')
    .set({ audit_sequence: sequence, audit_hash: hash })
    .where('id', '=', organizationId)
    .execute();
}

/** All activities by organization and id, in batches that bound the memory. */
async function* readBatches<C extends keyof ActivityRow>(tx: Db, columns: readonly C[]) {
  for (let last = { organization_id: '', id: '' }; ; ) {
    const rows = (await tx
      .selectFrom('activities')
      .select(columns as readonly (keyof ActivityRow)[])
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('organization_id', 'id'), '>', tuple(last.organization_id, last.id)),
      )
      .orderBy('organization_id')
      .orderBy('id')
      .limit(ROWS_PER_BATCH)
      .execute()) as Pick<ActivityRow, C | 'organization_id' | 'id'>[];
    const end = rows.at(-1);
    if (!end) return;
    last = end;
    yield rows;
  }
}

async function fillSortNames(tx: Db): Promise<void> {
  for (const table of ['services', 'api_keys'] as const)
    await fillFromDocuments(tx, table, 'sort_name', ({ name }) => toSortName(name));
}

async function fillWarehouses(tx: Db): Promise<void> {
  await fillFromDocuments(tx, 'services', 'data_warehouse_id', ({ dataWarehouseId }) => dataWarehouseId);
}

async function fillFromDocuments(
  tx: Db,
  table: 'services' | 'api_keys',
  column: string,
  toValue: (document: { name: string; dataWarehouseId: string }) => string,
): Promise<void> {
  for await (const rows of readDocuments(tx, table)) {
    const values = rows.map(({ id, document }) => sql`(${id}, ${toValue(JSON.parse(document))})`);
    // Both stores name the columns of VALUES column1, column2.
    await sql`UPDATE ${sql.table(table)} SET ${sql.id(column)} = filled.column2
      FROM (VALUES ${sql.join(values)}) AS filled WHERE ${sql.table(table)}.id = filled.column1`.execute(tx);
  }
}

async function setUnlogged(tx: Db): Promise<void> {
  if (isPostgres(tx)) await sql`ALTER TABLE rate_windows SET UNLOGGED`.execute(tx);
}

async function fillServiceTags(tx: Db): Promise<void> {
  for await (const services of readDocuments(tx, 'services')) {
    const rows = services.flatMap(({ document }) => listTagRows(JSON.parse(document)));
    for (let start = 0; start < rows.length; start += ROWS_PER_BATCH)
      await tx
        .insertInto('service_tags')
        .values(rows.slice(start, start + ROWS_PER_BATCH))
        .execute();
  }
}

/** All documents of a table by id, in batches that bound the memory. */
async function* readDocuments(tx: Db, table: 'services' | 'api_keys') {
  for (let lastId = ''; ; ) {
    const rows = await tx
      .selectFrom(table)
      .select(['id', 'document'])
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(ROWS_PER_BATCH)
      .execute();
    const end = rows.at(-1);
    if (!end) return;
    lastId = end.id;
    yield rows;
  }
}

type StoredActivity = Pick<ActivityRow, 'organization_id' | 'id' | 'created_at' | 'document'>;

function withFilters(row: StoredActivity): ChainedColumns {
  const { type, actor, resource }: Document = JSON.parse(row.document);
  return {
    ...row,
    type,
    actor_id: actor.id,
    actor_name: actor.details,
    resource_id: resource.id,
  };
}
