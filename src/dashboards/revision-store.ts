import type { Db } from '../state/tables.ts';

/** Says that dashboards or sources changed: whatever was kept of them is out of date, on every node. */
export async function bumpDashboardRevision(tx: Db, organizationId: string): Promise<void> {
  await tx
    .updateTable('organizations')
    .set((eb) => ({ dashboard_revision: eb('dashboard_revision', '+', 1) }))
    .where('id', '=', organizationId)
    .execute();
}
