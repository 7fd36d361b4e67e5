import type { HourlyCountRow } from '../../platform/state/tables/audit-tables.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type CountKey, type HourlyCount, mergeCounts } from './hourly-count.ts';

const toColumns = ({ organizationId, type, subjectId, hour }: CountKey) => ({
  organization_id: organizationId,
  type,
  subject_id: subjectId,
  hour,
});

const toCount = (row: HourlyCountRow): HourlyCount => ({
  ...JSON.parse(row.document),
  organizationId: row.organization_id,
  type: row.type,
  subjectId: row.subject_id,
  hour: row.hour,
});

const select = (db: Db, key: CountKey) => {
  const columns = toColumns(key);
  return db
    .selectFrom('hourly_counts')
    .selectAll()
    .where('organization_id', '=', columns.organization_id)
    .where('type', '=', columns.type)
    .where('subject_id', '=', columns.subject_id)
    .where('hour', '=', columns.hour);
};

/** Adds to what other processes counted. The caller has locked the organization. */
export async function addCount(tx: Db, count: HourlyCount): Promise<void> {
  const row = await select(tx, count).executeTakeFirst();
  const { name, credential, reasons, addresses } = row ? mergeCounts(toCount(row), count) : count;
  const document = JSON.stringify({ name, credential, reasons, addresses });
  await tx
    .insertInto('hourly_counts')
    .values({ ...toColumns(count), document })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'type', 'subject_id', 'hour']).doUpdateSet({ document }),
    )
    .execute();
}

/** Of all organizations, oldest first. */
export async function listEndedCounts(db: Db, before: number, limit: number): Promise<HourlyCount[]> {
  const query = db.selectFrom('hourly_counts').selectAll().where('hour', '<', before).orderBy('hour').limit(limit);
  return (await query.execute()).map(toCount);
}

/** Removes and returns the count; undefined if another node was faster. */
export async function takeCount(tx: Db, key: CountKey): Promise<HourlyCount | undefined> {
  const row = await select(tx, key).executeTakeFirst();
  if (!row) return undefined;
  await tx
    .deleteFrom('hourly_counts')
    .where('organization_id', '=', row.organization_id)
    .where('type', '=', row.type)
    .where('subject_id', '=', row.subject_id)
    .where('hour', '=', row.hour)
    .execute();
  return toCount(row);
}

export async function deleteCounts(tx: Db, organizationId: string): Promise<void> {
  await tx.deleteFrom('hourly_counts').where('organization_id', '=', organizationId).execute();
}
