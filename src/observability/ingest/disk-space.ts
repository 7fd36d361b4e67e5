import { statfs } from 'node:fs/promises';
import { AppError } from '../../kernel/errors.ts';
import { formatBytes } from '../../kernel/numbers/bytes.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';

const CHECK_EVERY_MS = 2 * SECOND_MS;
const RETRY_AFTER_SECONDS = 5;
/** The engine needs space to merge the parts of its tables: 2 % of the disk, within these limits. */
const KEPT_SHARE = 0.02;
const MIN_KEPT_BYTES = 100 * 2 ** 20;
const MAX_KEPT_BYTES = 2 ** 30;

interface Options {
  /** The folder of the embedded engine; undefined for a server, which watches its disks itself. */
  directory: string | undefined;
  clock: Pick<Clock, 'monotonicMs'>;
}

/** Rejects telemetry before the disk of the engine is full: a full disk would also fail usage and queries. */
export function createDiskSpace({ directory, clock }: Options) {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let problem: string | undefined;

  async function check(): Promise<void> {
    if (directory === undefined || clock.monotonicMs() - checkedAt < CHECK_EVERY_MS) return;
    checkedAt = clock.monotonicMs();
    // The folder does not exist before the engine has started for the first time.
    const disk = await statfs(directory).catch(() => undefined);
    if (!disk) return;
    const free = disk.bavail * disk.bsize;
    const kept = Math.min(MAX_KEPT_BYTES, Math.max(MIN_KEPT_BYTES, KEPT_SHARE * disk.blocks * disk.bsize));
    problem =
      free < kept
        ? `The disk of the engine is nearly full: ${formatBytes(free)} free, and ${formatBytes(kept)} are kept for it`
        : undefined;
  }

  return {
    /** Throws `unavailable`; senders try again. */
    async require(): Promise<void> {
      await check();
      if (problem !== undefined) throw new AppError('unavailable', problem, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    },

    /** For `/readyz`. */
    listWarnings: () =>
      problem === undefined
        ? []
        : [
            {
              code: 'telemetry_rejected' as const,
              message: `${problem}: telemetry is rejected`,
              remedy: 'Free space on the disk, enlarge it, or shorten the retention of telemetry',
            },
          ],
  };
}
