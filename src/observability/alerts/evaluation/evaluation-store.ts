import type { Db } from '../../../platform/state/tables.ts';
import type { Evaluation } from '../evaluation.ts';

interface Page {
  limit: number;
  /** Only evaluations before this time. */
  before?: number | undefined;
  onlyChanges?: boolean | undefined;
}

/** Newest first. */
export async function listEvaluations(
  db: Db,
  organizationId: string,
  alertId: string,
  { limit, before, onlyChanges }: Page,
): Promise<Evaluation[]> {
  let query = db
    .selectFrom('alert_evaluations')
    .select(['evaluated_at', 'window_end', 'document'])
    .where('organization_id', '=', organizationId)
    .where('alert_id', '=', alertId);
  if (before !== undefined) query = query.where('evaluated_at', '<', before);
  if (onlyChanges) query = query.where('is_change', '=', 1);
  const rows = await query.orderBy('evaluated_at', 'desc').orderBy('window_end', 'desc').limit(limit).execute();
  return rows.map((row) => ({
    evaluatedAt: row.evaluated_at,
    windowEnd: row.window_end,
    ...JSON.parse(row.document),
  }));
}

/** The changes of the state of each alert, oldest first; of all alerts, the newest `limit`. */
export async function listChanges(
  db: Db,
  organizationId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  limit: number,
): Promise<Map<string, Evaluation[]>> {
  const rows = await db
    .selectFrom('alert_evaluations')
    .select(['alert_id', 'evaluated_at', 'window_end', 'document'])
    .where('organization_id', '=', organizationId)
    // The index has only these.
    .where('is_change', '=', (eb) => eb.lit(1))
    .where('evaluated_at', '>=', fromMs)
    .where('evaluated_at', '<', toMs)
    .orderBy('evaluated_at', 'desc')
    .orderBy('window_end', 'desc')
    .limit(limit)
    .execute();
  const changes = new Map<string, Evaluation[]>();
  for (const row of rows.reverse()) {
    const list = changes.get(row.alert_id) ?? [];
    list.push({ evaluatedAt: row.evaluated_at, windowEnd: row.window_end, ...JSON.parse(row.document) });
    changes.set(row.alert_id, list);
  }
  return changes;
}

export async function insertEvaluations(
  tx: Db,
  organizationId: string,
  alertId: string,
  evaluations: readonly Evaluation[],
): Promise<void> {
  if (evaluations.length === 0) return;
  await tx
    .insertInto('alert_evaluations')
    .values(
      evaluations.map(({ evaluatedAt, windowEnd, ...document }) => ({
        organization_id: organizationId,
        alert_id: alertId,
        evaluated_at: evaluatedAt,
        window_end: windowEnd,
        is_change: Number(document.isChange),
        document: JSON.stringify(document),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** At most `limit` of all organizations. Returns how many were deleted. */
export async function deleteOldEvaluations(
  tx: Db,
  { isChange, before, limit }: { isChange: boolean; before: number; limit: number },
): Promise<number> {
  const old = await tx
    .selectFrom('alert_evaluations')
    .select('evaluated_at')
    .where('is_change', '=', Number(isChange))
    .where('evaluated_at', '<', before)
    .orderBy('evaluated_at')
    .limit(limit)
    .execute();
  const last = old.at(-1)?.evaluated_at;
  if (last === undefined) return 0;
  await tx
    .deleteFrom('alert_evaluations')
    .where('is_change', '=', Number(isChange))
    .where('evaluated_at', '<=', last)
    .execute();
  return old.length;
}
