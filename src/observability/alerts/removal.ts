import type { Clock } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Notifications } from '../../management/notifications/notifications.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Alert } from './alert.ts';
import { deleteAlert, listSavedSearchAlerts, listTileAlerts, readGroups } from './alert-store.ts';
import type { AlertNotices } from './notices.ts';

interface Options {
  clock: Clock;
  audit: Audit;
  notifications: Pick<Notifications, 'enqueue'>;
  notices: Pick<AlertNotices, 'buildDeletion'>;
}

export type AlertRemoval = ReturnType<typeof createAlertRemoval>;

/** Deletes alerts in the transaction of the caller. What they have announced is resolved. */
export function createAlertRemoval({ clock, audit, notifications, notices }: Options) {
  /** The caller records the change. */
  async function erase(tx: Db, alert: Alert, subjectName?: string): Promise<void> {
    const { organizationId, id } = alert;
    const groups = await readGroups(tx, organizationId, id);
    await notifications.enqueue(tx, await notices.buildDeletion(alert, groups, clock.now(), subjectName));
    await deleteAlert(tx, organizationId, id);
  }

  /** `subjectName`: of what the alert watches, if the caller knows it. */
  async function remove(tx: Db, actor: Actor, alert: Alert, subjectName?: string): Promise<void> {
    const { organizationId, id, content } = alert;
    await erase(tx, alert, subjectName);
    await audit.record(tx, actor, {
      organizationId,
      type: 'alert_delete',
      resource: { type: 'alert', id },
      before: content,
    });
  }

  return {
    erase,
    remove,

    /** Of a saved search that is deleted. */
    async removeOfSavedSearch(
      tx: Db,
      actor: Actor,
      organizationId: string,
      { id, name }: { id: string; name: string },
    ): Promise<void> {
      for (const alert of await listSavedSearchAlerts(tx, organizationId, id)) await remove(tx, actor, alert, name);
    },

    /** Of a dashboard that loses all tiles but `keptIds`. */
    async removeOfTiles(
      tx: Db,
      actor: Actor,
      organizationId: string,
      { id, name, tiles }: { id: string; name: string; tiles: readonly { id: string; name: string }[] },
      keptIds: ReadonlySet<string>,
    ): Promise<void> {
      const lost = new Map(tiles.flatMap((tile) => (keptIds.has(tile.id) ? [] : [[tile.id, tile.name]])));
      if (lost.size === 0) return;
      for (const alert of await listTileAlerts(tx, organizationId, id)) {
        const tileName = lost.get(alert.content.tileId ?? '');
        if (tileName !== undefined) await remove(tx, actor, alert, `${name}: ${tileName}`);
      }
    },
  };
}
