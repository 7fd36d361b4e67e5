import type { Actor } from '../audit/activity.ts';
import { formatViolation } from '../kernel/errors.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Sources } from '../sources/sources.ts';
import type { State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import { sourceIdViolations } from './dashboard.ts';
import type { Saving } from './saving.ts';
import type { Dashboard } from './schema.ts';
import { findStored } from './store.ts';

interface Options {
  state: State;
  organizations: Organizations;
  sources: Sources;
  saving: Saving;
}

export interface WantedDashboard {
  organizationId: string;
  dashboard: Dashboard;
}

export interface AppliedDashboard {
  action: 'add' | 'change' | 'unchanged';
  id: string;
  name: string;
  version: number;
}

export interface AppliedDashboards {
  dashboards: AppliedDashboard[];
  warnings: string[];
}

/** Ends a transaction without leaving anything behind. */
class DryRun extends Error {}

export type Applying = ReturnType<typeof createApplying>;

/** Dashboards that carry their own ids, from files: added or replaced whole, all of them or none. */
export function createApplying({ state, organizations, sources, saving }: Options) {
  async function applyOne(tx: Db, actor: Actor, { organizationId, dashboard }: WantedDashboard) {
    const before = await findStored(tx, organizationId, dashboard.id);
    const after = await saving.save(tx, actor, organizationId, before, dashboard);
    const { id, name } = dashboard;
    const action = after === before ? 'unchanged' : before ? 'change' : 'add';
    return { action, id, name, version: after.version } as const;
  }

  return async function apply(
    actor: Actor,
    wanted: readonly WantedDashboard[],
    { dryRun = false } = {},
  ): Promise<AppliedDashboards> {
    let applied: AppliedDashboards = { dashboards: [], warnings: [] };
    try {
      await state.write(async (tx) => {
        applied = { dashboards: [], warnings: [] };
        const touched = new Set(wanted.map(({ organizationId }) => organizationId));
        for (const id of [...touched].sort()) await organizations.take(tx, id);
        for (const one of wanted) {
          applied.dashboards.push(await applyOne(tx, actor, one));
          const unknown = sourceIdViolations(one.dashboard, await sources.ids(tx, one.organizationId));
          applied.warnings.push(...unknown.map((violation) => `${one.dashboard.name}: ${formatViolation(violation)}`));
        }
        if (dryRun) throw new DryRun();
      });
    } catch (error) {
      if (!(error instanceof DryRun)) throw error;
    }
    return applied;
  };
}
