import { AppError } from '../kernel/errors.ts';
import type { Db } from '../state/tables.ts';
import { inListOrder } from './dashboard.ts';
import { type Dashboard, isDashboardId } from './schema.ts';
import { findStored, listDashboards } from './store.ts';

export type Dashboards = ReturnType<typeof createDashboards>;

export function createDashboards({ db }: { db: Db }) {
  return {
    async list(organizationId: string): Promise<Dashboard[]> {
      return (await listDashboards(db, organizationId)).sort(inListOrder);
    },

    /** As JSON, the way it is stored. */
    async getJson(organizationId: string, id: string): Promise<string> {
      const stored = isDashboardId(id) ? await findStored(db, organizationId, id) : undefined;
      if (!stored) throw new AppError('not_found', 'Dashboard not found');
      return stored.json;
    },
  };
}
