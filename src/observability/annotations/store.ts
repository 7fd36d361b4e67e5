import type { AnnotationRow, Db } from '../../platform/state/tables.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import type { Annotation } from './annotation.ts';

const toAnnotation = (row: AnnotationRow): Annotation => ({
  ...JSON.parse(row.document),
  id: row.id,
  kind: 'deploy',
  time: row.time,
  endTime: row.end_time === row.time ? undefined : row.end_time,
  dashboardId: row.dashboard_id ?? undefined,
  createdBy: row.created_by,
});

/** Those that overlap the range, newest first. With a dashboard: its own, and those of all dashboards. */
export async function listStoredAnnotations(
  db: Db,
  organizationId: string,
  { startMs, endMs }: Range,
  { dashboardId, limit }: { dashboardId: string | undefined; limit: number },
): Promise<Annotation[]> {
  let query = db
    .selectFrom('annotations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('time', '<', endMs)
    .where('end_time', '>=', startMs);
  if (dashboardId !== undefined)
    query = query.where((eb) => eb.or([eb('dashboard_id', 'is', null), eb('dashboard_id', '=', dashboardId)]));
  const rows = await query.orderBy('time', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(toAnnotation);
}

export async function findAnnotation(db: Db, organizationId: string, id: string): Promise<Annotation | undefined> {
  const row = await db
    .selectFrom('annotations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toAnnotation(row);
}

export async function insertAnnotation(tx: Db, organizationId: string, annotation: Annotation): Promise<void> {
  const { id, time, endTime = time, dashboardId = null, createdBy, title, text, tags, link } = annotation;
  await tx
    .insertInto('annotations')
    .values({
      organization_id: organizationId,
      id,
      time,
      end_time: endTime,
      dashboard_id: dashboardId,
      document: JSON.stringify({ title, text, tags, link }),
      created_by: createdBy,
    })
    .execute();
}

export async function deleteAnnotation(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('annotations').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** Keeps the newest ones. */
export async function deleteOldestAnnotations(tx: Db, organizationId: string, keep: number): Promise<void> {
  const last = await tx
    .selectFrom('annotations')
    .select(['time', 'id'])
    .where('organization_id', '=', organizationId)
    .orderBy('time', 'desc')
    .orderBy('id', 'desc')
    .offset(keep)
    .limit(1)
    .executeTakeFirst();
  if (!last) return;
  await tx
    .deleteFrom('annotations')
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('time', '<', last.time), eb.and([eb('time', '=', last.time), eb('id', '<=', last.id)])]))
    .execute();
}
