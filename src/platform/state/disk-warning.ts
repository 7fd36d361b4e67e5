import { type Clock, MINUTE_MS } from '../../kernel/time/clock.ts';
import { isDiskFull } from './failures.ts';

/** A state that needs an operator. */
export interface StoreWarning {
  code: 'store_disk_full';
  message: string;
  remedy: string;
}

/** Small changes may succeed on a full disk, so a success does not show that the problem is over. */
const REMEMBERED_MS = MINUTE_MS;

const DISK_FULL: StoreWarning = {
  code: 'store_disk_full',
  message: 'The disk of the database is full: changes are rejected',
  remedy: 'Free space on the disk or enlarge it; the server recovers by itself',
};

/** Remembers that a change failed because of a full disk. For `/readyz`, whose own small change may succeed. */
export function createDiskWarning({ monotonicMs }: Pick<Clock, 'monotonicMs'>) {
  let failedAtMs: number | undefined;
  return {
    observe(error: unknown): void {
      if (isDiskFull(error)) failedAtMs = monotonicMs();
    },
    list: (): StoreWarning[] =>
      failedAtMs !== undefined && monotonicMs() - failedAtMs < REMEMBERED_MS ? [DISK_FULL] : [],
  };
}
