import { formatViolation } from '../../../kernel/errors.ts';
import type { Actor } from '../../../management/audit/activity.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import { type DryRunOption, writeUnlessDryRun } from '../../../platform/state/dry-run.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Sources } from '../../sources/sources.ts';
import { listSourceIdViolations } from '../dashboard.ts';
import type { DashboardWriter } from '../dashboard-writer.ts';
import type { Dashboard } from '../schema.ts';
import { findStored } from '../store.ts';

interface Options {
  state: State;
  organizations: Organizations;
  sources: Sources;
  writer: DashboardWriter;
}

interface DeclaredDashboard {
  organizationId: string;
  dashboard: Dashboard;
}

interface AppliedDashboard {
  action: 'add' | 'change' | 'unchanged';
  id: string;
  name: string;
  version: number;
}

interface AppliedDashboards {
  dashboards: AppliedDashboard[];
  warnings: string[];
}

/** Adds or replaces dashboards that have an id, all of them or none. For `pilothouse dashboard apply`. */
export function createApplyDashboards({ state, organizations, sources, writer }: Options) {
  async function applyOne(
    tx: Db,
    actor: Actor,
    { organizationId, dashboard }: DeclaredDashboard,
  ): Promise<AppliedDashboard> {
    const before = await findStored(tx, organizationId, dashboard.id);
    const after = await writer.save(tx, actor, organizationId, before, dashboard);
    const { id, name } = dashboard;
    const action = after === before ? 'unchanged' : before ? 'change' : 'add';
    return { action, id, name, version: after.version };
  }

  async function listWarnings(tx: Db, { organizationId, dashboard }: DeclaredDashboard): Promise<string[]> {
    const violations = listSourceIdViolations(dashboard, await sources.listIds(tx, organizationId));
    return violations.map((violation) => `${dashboard.name}: ${formatViolation(violation)}`);
  }

  return async function applyDashboards(
    actor: Actor,
    declared: readonly DeclaredDashboard[],
    options: DryRunOption = {},
  ): Promise<AppliedDashboards> {
    return writeUnlessDryRun(state, options, async (tx) => {
      const applied: AppliedDashboards = { dashboards: [], warnings: [] };
      const organizationIds = new Set(declared.map(({ organizationId }) => organizationId));
      // Always in the same order, so that two nodes cannot deadlock.
      for (const id of [...organizationIds].sort()) await organizations.lock(tx, id);
      for (const one of declared) {
        applied.dashboards.push(await applyOne(tx, actor, one));
        applied.warnings.push(...(await listWarnings(tx, one)));
      }
      return applied;
    });
  };
}
