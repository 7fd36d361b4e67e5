import type { Organizations } from '../../management/organizations/organizations.ts';
import type { State } from '../../platform/state/state.ts';
import type { Backup } from './backup.ts';
import { findBackup, updateBackup } from './store.ts';

export type BackupWriter = ReturnType<typeof createBackupWriter>;

/** Changes of one backup by several parts do not overwrite each other. */
export function createBackupWriter({ state, organizations }: { state: State; organizations: Organizations }) {
  return {
    /** Stores what `change` returns. Nothing happens if the backup was deleted meanwhile. */
    change: ({ organizationId, id }: Pick<Backup, 'organizationId' | 'id'>, change: (backup: Backup) => Backup) =>
      state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const backup = await findBackup(tx, organizationId, id);
        if (backup) await updateBackup(tx, change(backup));
      }),
  };
}
