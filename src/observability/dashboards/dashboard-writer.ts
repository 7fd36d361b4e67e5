import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { rejectViolations } from '../../kernel/errors.ts';
import { isShortJson, parseJsonInSlices } from '../../kernel/json/json-slices.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { type Actor, difference } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Db } from '../../platform/state/tables.ts';
import { listSizeViolations, normalizeInSlices, renderDashboard, summarizeForAudit } from './dashboard.ts';
import type { Dashboard } from './schema.ts';
import { putDashboard, removeDashboard, type StoredDashboard, setProvisionedFrom } from './store.ts';

export type DashboardWriter = ReturnType<typeof createDashboardWriter>;

/** Every change to a dashboard goes through here: it saves a version and an audit log entry. */
export function createDashboardWriter({ clock, audit }: { clock: Clock; audit: Audit }) {
  return {
    /** Saves no version if nothing changed. */
    async save(
      tx: Db,
      actor: Actor,
      organizationId: string,
      before: StoredDashboard | undefined,
      after: Dashboard,
      provisionedFrom?: string,
    ): Promise<StoredDashboard> {
      const old = before && (await parsed(before));
      const json = await renderDashboard(after);
      const isSame = old !== undefined && (await renderDashboard(await normalizeInSlices(old.id, old))) === json;
      if (before && isSame) {
        if (provisionedFrom === undefined || before.provisionedFrom === provisionedFrom) return before;
        await setProvisionedFrom(tx, organizationId, after.id, provisionedFrom);
        return { ...before, provisionedFrom };
      }
      rejectViolations(listSizeViolations(json));
      if (!isShortJson(json)) await yieldToEventLoop();
      const input = { json, at: clock.now(), by: actor.details, provisionedFrom };
      const version = await putDashboard(tx, organizationId, after, input);
      const summary = summarizeForAudit(after, version);
      await audit.record(tx, actor, {
        organizationId,
        type: before ? 'dashboard_update' : 'dashboard_create',
        resource: { type: 'dashboard', id: after.id },
        ...(before && old ? difference(summarizeForAudit(old, before.version), summary) : { after: summary }),
      });
      return { json, version, provisionedFrom };
    },

    /** Makes a provisioned dashboard editable through the API. */
    async release(tx: Db, actor: Actor, organizationId: string, id: string, provisionedFrom: string): Promise<void> {
      await setProvisionedFrom(tx, organizationId, id, null);
      await audit.record(tx, actor, {
        organizationId,
        type: 'dashboard_update',
        resource: { type: 'dashboard', id },
        before: { provisionedFrom },
        after: { provisionedFrom: null },
      });
    },

    async remove(tx: Db, actor: Actor, organizationId: string, before: StoredDashboard): Promise<void> {
      const dashboard = await parsed(before);
      await removeDashboard(tx, organizationId, dashboard.id, clock.now());
      await audit.record(tx, actor, {
        organizationId,
        type: 'dashboard_delete',
        resource: { type: 'dashboard', id: dashboard.id },
        before: summarizeForAudit(dashboard, before.version),
      });
    },
  };
}

const parsed = async ({ json }: StoredDashboard): Promise<Dashboard> => (await parseJsonInSlices(json)) as Dashboard;
