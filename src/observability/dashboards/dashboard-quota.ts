import { AppError } from '../../kernel/errors.ts';
import { formatBytes } from '../../kernel/numbers/bytes.ts';
import type { Db } from '../../platform/state/tables.ts';
import { measureDashboards } from './store.ts';

/** The list of dashboards contains all of them in full, so their size is limited, too. */
const MAX_TOTAL_BYTES = 32 * 2 ** 20;

export type DashboardQuota = ReturnType<typeof createDashboardQuota>;

interface Limits {
  maxDashboards?: number | undefined;
  maxBytes?: number;
}

/** Limits the dashboards of an organization. Those of a fleet file or the dashboards folder are not limited. */
export function createDashboardQuota({ maxDashboards = Number.POSITIVE_INFINITY, maxBytes = MAX_TOTAL_BYTES }: Limits) {
  return {
    /** Throws `conflict` if the dashboards in the transaction exceed a limit. Call it after a dashboard was saved. */
    async check(tx: Db, organizationId: string, { isNew }: { isNew: boolean }): Promise<void> {
      const { count, bytes } = await measureDashboards(tx, organizationId);
      if (isNew && count > maxDashboards)
        throw new AppError(
          'conflict',
          `The organization has reached its limit of ${maxDashboards} dashboards; delete one first`,
        );
      if (bytes > maxBytes)
        throw new AppError(
          'conflict',
          `The dashboards of the organization would exceed ${formatBytes(maxBytes)} together; delete one first`,
        );
    },
  };
}
