import type { ActivityRow, Db } from './tables.ts';

/** Steps that a migration needs in addition to its SQL, by migration name. They run in the same transaction. */
export const BACKFILLS: Record<string, (tx: Db) => Promise<void>> = {
  '0007-activity-filters': fillActivityFilters,
};

const ROWS_PER_BATCH = 1000;

interface Document {
  type: string;
  actor: { id: string; details: string };
  resource: { id: string };
}

async function fillActivityFilters(tx: Db): Promise<void> {
  for (let last = { organization_id: '', id: '' }; ; ) {
    const rows = await tx
      .selectFrom('activities')
      .select(['organization_id', 'id', 'created_at', 'document'])
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('organization_id', 'id'), '>', tuple(last.organization_id, last.id)),
      )
      .orderBy('organization_id')
      .orderBy('id')
      .limit(ROWS_PER_BATCH)
      .execute();
    const end = rows.at(-1);
    if (!end) return;
    last = end;
    await tx
      .insertInto('activities')
      .values(rows.map(withFilters))
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

type StoredActivity = Pick<ActivityRow, 'organization_id' | 'id' | 'created_at' | 'document'>;

function withFilters(row: StoredActivity): ActivityRow {
  const { type, actor, resource }: Document = JSON.parse(row.document);
  return {
    ...row,
    type,
    actor_id: actor.id,
    actor_name: actor.details,
    resource_id: resource.id,
  };
}
