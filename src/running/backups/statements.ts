import { setTimeout as delay } from 'node:timers/promises';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { Upstream } from '../../management/services/driver.ts';
import { query, queryRows } from '../../platform/listener/query.ts';

/** Ids are UUIDs. */
const toFile = (id: string): string => `File('${id}')`;

/** All databases of users, and the functions that they have created. */
const CONTENTS = 'TABLE system.functions, ALL EXCEPT DATABASES system, INFORMATION_SCHEMA, information_schema';

/** Writes a backup to the folder `backups` of the service. `baseId`: with only what was added since that backup. */
export async function runBackup(
  upstream: Upstream,
  id: string,
  baseId: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const base = baseId === undefined ? '' : ` SETTINGS base_backup = ${toFile(baseId)}`;
  await query(upstream, `BACKUP ${CONTENTS} TO ${toFile(id)}${base}`, signal);
}

const PROGRESS = "SELECT toFloat64(bytes_read), toFloat64(total_size) FROM system.backups WHERE status = 'RESTORING'";
const PROGRESS_MS = SECOND_MS;

/** Restores from the folder `backups` of the service, which has the whole chain. `onProgress` gets a share from 0 to 1. */
export async function runRestore(
  upstream: Upstream,
  id: string,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<void> {
  const ended = new AbortController();
  const limit = AbortSignal.any([signal, ended.signal]);
  const report = async () => {
    while (!limit.aborted) {
      const [row] = await queryRows<[number, number]>(upstream, PROGRESS, limit);
      if (row && row[1] > 0) onProgress(Math.min(1, row[0] / row[1]));
      await delay(PROGRESS_MS, undefined, { signal: limit, ref: false });
    }
  };
  // The progress is for people only.
  void report().catch(() => {});
  try {
    await query(upstream, `RESTORE ALL FROM ${toFile(id)}`, signal);
  } finally {
    ended.abort();
  }
}

/** The first sentence of an error of ClickHouse, without its stack and version. */
export const formatFailure = (error: unknown): string =>
  (error as Error).message
    .replace(/^\d{3} /, '')
    .replace(/,? Stack trace[\s\S]*$/, '')
    .replace(/ \(version [^)]*\)\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
