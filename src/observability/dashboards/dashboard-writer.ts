import { rejectViolations } from '../../kernel/errors.ts';
import { yieldToEventLoop } from '../../kernel/tasks/event-loop.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { type Actor, difference } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Db } from '../../platform/state/tables.ts';
import { listSizeViolations, normalizeDashboard, parseDashboard, summarizeForAudit } from './dashboard.ts';
import type { Dashboard } from './schema.ts';
import { putDashboard, removeDashboard, type StoredDashboard, setProvisionedFrom } from './store.ts';

const LONG_CHARACTERS = 64 * 1024;

/** The steps of a change take long if the dashboard is large: other requests run in between. */
const pauseIfLong = async (json: string): Promise<void> => {
  if (json.length > LONG_CHARACTERS) await yieldToEventLoop();
};

interface Options {
  clock: Clock;
  audit: Audit;
  /** Deletes the alerts of the tiles that a dashboard loses. */
  removeTileAlerts(
    tx: Db,
    actor: Actor,
    organizationId: string,
    before: Dashboard,
    keptIds: ReadonlySet<string>,
  ): Promise<void>;
}

export type DashboardWriter = ReturnType<typeof createDashboardWriter>;

/** Every change to a dashboard goes through here: it saves a version and an audit log entry. */
export function createDashboardWriter({ clock, audit, removeTileAlerts }: Options) {
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
      const json = JSON.stringify(after);
      await pauseIfLong(json);
      const old = before && parseDashboard(before);
      const isSame = (): boolean =>
        before?.json === json || (old !== undefined && JSON.stringify(normalizeDashboard(old.id, old)) === json);
      if (before && isSame()) {
        if (provisionedFrom === undefined || before.provisionedFrom === provisionedFrom) return before;
        await setProvisionedFrom(tx, organizationId, after.id, provisionedFrom);
        return { ...before, provisionedFrom };
      }
      rejectViolations(listSizeViolations(json));
      await pauseIfLong(json);
      const input = { json, at: clock.now(), by: actor.details, provisionedFrom };
      const version = await putDashboard(tx, organizationId, after, input);
      const summary = summarizeForAudit(after, version);
      await audit.record(tx, actor, {
        organizationId,
        type: before ? 'dashboard_update' : 'dashboard_create',
        resource: { type: 'dashboard', id: after.id },
        ...(before && old ? difference(summarizeForAudit(old, before.version), summary) : { after: summary }),
      });
      if (old) await removeTileAlerts(tx, actor, organizationId, old, listTileIds(after));
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
      const dashboard = parseDashboard(before);
      await removeDashboard(tx, organizationId, dashboard.id, clock.now());
      await audit.record(tx, actor, {
        organizationId,
        type: 'dashboard_delete',
        resource: { type: 'dashboard', id: dashboard.id },
        before: summarizeForAudit(dashboard, before.version),
      });
      await removeTileAlerts(tx, actor, organizationId, dashboard, new Set());
    },
  };
}

const listTileIds = ({ tiles }: Dashboard): Set<string> => new Set(tiles.map(({ id }) => id));
