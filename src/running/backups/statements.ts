import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../kernel/errors.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Upstream } from '../../management/services/driver.ts';
import { query, queryRows, quoteText } from '../../platform/listener/query.ts';
import type { SecretSql } from './storage/storage.ts';

/** Ids are UUIDs. */
export const toFile = (id: string): string => `File('${id}')`;

const DATABASES = 'ALL EXCEPT DATABASES system, INFORMATION_SCHEMA, information_schema';
const FUNCTIONS = 'TABLE system.functions';

/** Writes a backup to the folder `backups` of the service. `baseId`: with only what was added since that backup. */
export async function runBackup(
  upstream: Upstream,
  id: string,
  baseId: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const base = baseId === undefined ? '' : ` SETTINGS base_backup = ${toFile(baseId)}`;
  await query(upstream, `BACKUP ${FUNCTIONS}, ${DATABASES} TO ${toFile(id)}${base}`, signal);
}

const COUNT_FUNCTIONS = "SELECT count() FROM system.functions WHERE origin = 'SQLUserDefined'";

/** The list of files in the storage has no key then. */
const SAME_KEY = 'use_same_s3_credentials_for_base_backup = 1';

/** A statement that takes longer is given up: ClickHouse may never answer. */
const BACKUP_LIMIT_MS = 6 * HOUR_MS;

/** Lets ClickHouse write a backup to the storage: all databases of users, and the functions that they have created. */
export async function runBackupTo(
  upstream: Upstream,
  target: SecretSql,
  base: SecretSql | undefined,
  signal: AbortSignal,
  limitMs = BACKUP_LIMIT_MS,
): Promise<void> {
  const settings = base === undefined ? '' : ` SETTINGS base_backup = ${base.sql}, ${SAME_KEY}`;
  const limit = limitTime(limitMs, signal);
  try {
    // Some versions do not find the table if it has nothing to back up.
    const functions = Number(await query(upstream, COUNT_FUNCTIONS, limit)) > 0 ? `${FUNCTIONS}, ` : '';
    const sql = `BACKUP ${functions}${DATABASES} TO ${target.sql}${settings}`;
    await query(upstream, sql, limit, (error) => hideSecret(error, target.secret));
  } catch (error) {
    if (!limit.aborted || signal.aborted) throw error;
    throw new AppError('unavailable', `ClickHouse did not finish the backup within ${limitMs / HOUR_MS} hours`);
  }
}

/** ClickHouse may repeat a part of the statement, as it was sent or with the values of its literals. */
const hideSecret = (error: string, secret: string): string =>
  error
    .replace(/S3\([\s\S]*/, 'S3([HIDDEN])')
    .replaceAll(quoteText(secret).slice(1, -1), '[HIDDEN]')
    .replaceAll(secret, '[HIDDEN]');

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

const LOST_CODES: readonly unknown[] = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'];

/** The pattern of the version takes quadratic time. */
const MAX_FAILURE_CHARACTERS = 4096;

/** The first sentence of an error of ClickHouse, without its stack and version. */
export function formatFailure(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  if (LOST_CODES.includes(code)) return 'The connection to the service was lost';
  return message
    .replace(/^\d{3} /, '')
    .replace(/,? Stack trace[\s\S]*$/, '')
    .slice(0, MAX_FAILURE_CHARACTERS)
    .replace(/ \(version [^)]*\)\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
