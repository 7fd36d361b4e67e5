import type { Clock } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Notifications } from '../../management/notifications/notifications.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type Alert, listFailureChannels } from './alert.ts';
import {
  deleteAlert,
  listAlertsAnnouncedAt,
  listSavedSearchAlerts,
  listTileAlerts,
  putAlert,
  putGroups,
  readGroups,
  serializeGroups,
} from './alert-store.ts';
import { without } from './announcement.ts';
import type { Groups } from './judgment.ts';
import { type AlertNotices, listAnnouncedChannels } from './notices.ts';

interface Options {
  db: Db;
  clock: Clock;
  audit: Audit;
  notifications: Pick<Notifications, 'enqueue'>;
  notices: Pick<AlertNotices, 'buildDeletion' | 'findSubject'>;
}

export type AlertRemoval = ReturnType<typeof createAlertRemoval>;

/** Deletes alerts in the transaction of the caller. What they have announced is resolved. */
export function createAlertRemoval({ db, clock, audit, notifications, notices }: Options) {
  /** The caller records the change. */
  async function erase(tx: Db, alert: Alert, subjectName?: string): Promise<void> {
    const { organizationId, id } = alert;
    const groups = await readGroups(tx, organizationId, id);
    await notifications.enqueue(tx, await notices.buildDeletion(alert, groups, clock.now(), { subjectName }));
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

  /** Of a channel that the caller deletes: what was announced there is resolved there. The alerts themselves continue. */
  async function leaveChannel(
    tx: Db,
    organizationId: string,
    channelId: string,
    subjectNames: ReadonlyMap<string, string> = new Map(),
  ): Promise<void> {
    for (const alert of await listAlertsAnnouncedAt(tx, organizationId, channelId)) {
      const groups = await readGroups(tx, organizationId, alert.id);
      const subjectName = subjectNames.get(alert.id);
      const inputs = await notices.buildDeletion(alert, groups, clock.now(), { subjectName, channelId });
      if (inputs.length === 0) continue;
      await notifications.enqueue(tx, inputs);
      const failureSentTo = without(listFailureChannels(alert), [channelId]);
      await putAlert(tx, { ...alert, state: { ...alert.state, isFailureSent: undefined, failureSentTo } });
      await putGroups(tx, organizationId, alert.id, serializeGroups(withoutChannel(alert, groups, channelId)));
    }
  }

  return {
    erase,
    remove,
    leaveChannel,

    /** Reads what needs no transaction. The result is called in that which deletes the channel. */
    async prepareLeave(organizationId: string, channelId: string): Promise<(tx: Db) => Promise<void>> {
      const names = new Map<string, string>();
      for (const alert of await listAlertsAnnouncedAt(db, organizationId, channelId))
        names.set(alert.id, (await notices.findSubject(alert)).name);
      return (tx) => leaveChannel(tx, organizationId, channelId, names);
    },

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

const withoutChannel = (alert: Alert, groups: Groups, channelId: string): Groups =>
  new Map(
    [...groups].map(([key, group]) => {
      const channels = without(listAnnouncedChannels(alert, group.announced), [channelId]);
      return [key, group.announced ? { ...group, announced: { ...group.announced, channels } } : group];
    }),
  );
