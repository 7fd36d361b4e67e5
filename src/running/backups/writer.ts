import type { Organizations } from '../../management/organizations/organizations.ts';
import type { LeasedState } from '../../platform/leases/session.ts';
import type { Backup } from './backup.ts';
import { findBackup, updateBackup } from './store.ts';

export type BackupWriter = ReturnType<typeof createBackupWriter>;

/** Changes of one backup by several parts do not overwrite each other. */
export function createBackupWriter({ state, organizations }: { state: LeasedState; organizations: Organizations }) {
  return {
    /**
     * Stores what `change` makes of the stored backup. False if that is undefined, or the backup was deleted meanwhile:
     * nothing happens.
     */
    change: (
      { organizationId, id }: Pick<Backup, 'organizationId' | 'id'>,
      change: (stored: Backup) => Backup | undefined,
    ): Promise<boolean> =>
      state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const stored = await findBackup(tx, organizationId, id);
        const changed = stored && change(stored);
        if (changed) await updateBackup(tx, changed);
        return changed !== undefined;
      }),
  };
}
