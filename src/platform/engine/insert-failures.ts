import { type Clock, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { EngineWarning } from './engine.ts';
import { DISK_FULL_TEXT } from './failures.ts';

/** Without further inserts, nothing would show that the problem is over. */
const REMEMBERED_MS = MINUTE_MS;

const DISK_FULL: EngineWarning = {
  code: 'engine_disk_full',
  message: `${DISK_FULL_TEXT}: usage and telemetry are rejected`,
  remedy: 'Free space on the disk or enlarge it; senders try again after the 503 response',
};

/** Remembers that an insert failed because of a full disk, until one succeeds. For `/readyz`. */
export function createInsertFailures(clock: Clock) {
  let diskFullAt: number | undefined;
  return {
    async observe(insert: () => Promise<unknown>): Promise<void> {
      try {
        await insert();
        diskFullAt = undefined;
      } catch (error) {
        if ((error as Error).message === DISK_FULL_TEXT) diskFullAt = clock.monotonicMs();
        throw error;
      }
    },
    listWarnings: (): EngineWarning[] =>
      diskFullAt !== undefined && clock.monotonicMs() - diskFullAt < REMEMBERED_MS ? [DISK_FULL] : [],
  };
}
