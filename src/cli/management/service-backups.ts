import { setTimeout as delay } from 'node:timers/promises';
import type { Static } from 'typebox';
import { AppError } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { BackupRecord as BackupRecordSchema } from '../../running/backups/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { type Api, type CommandOutput, defineCommand, UsageError } from '../command.ts';
import { argument, argumentList, jsonOption, oneOf, organizationOption } from '../parameters.ts';
import { findService, serviceArgument } from './services.ts';

type BackupRecord = Static<typeof BackupRecordSchema>;

const ACTIONS = ['list', 'create', 'verify'] as const;
const POLL_MS = 500;

/** The id of a deleted service, which may still have backups, is used as it is. */
const findBackupsPath = async (api: Api, service: string): Promise<string> =>
  `/services/${isUuid(service) ? service.toLowerCase() : (await findService(api, service)).id}/backups`;

const formatBytes = (bytes: number | undefined): string =>
  bytes === undefined ? '' : `${(bytes / 1e6).toFixed(1)} MB`;

function formatVerification({ verification }: BackupRecord): string {
  if (!verification) return 'never';
  const { status, verifiedAt = '' } = verification;
  if (status === 'in_progress') return 'in progress';
  return status === 'done' ? verifiedAt : `failed ${verifiedAt}`;
}

async function list(api: Api, service: string): Promise<CommandOutput> {
  const backups = await api.call<BackupRecord[]>(await findBackupsPath(api, service));
  const header = ['ID', 'STARTED', 'STATUS', 'TYPE', 'SIZE', 'VERIFIED', 'ERROR'];
  const rows = backups.map((backup) => [
    backup.id,
    backup.startedAt,
    backup.status,
    backup.type,
    formatBytes(backup.sizeInBytes),
    formatVerification(backup),
    backup.error ?? '',
  ]);
  return { json: backups, table: { header, rows } };
}

/** Reads the backup until the server is done with what was requested. */
async function wait(api: Api, backup: BackupRecord, isRunning: (backup: BackupRecord) => boolean) {
  let current = backup;
  while (isRunning(current)) {
    await delay(POLL_MS);
    current = await api.call<BackupRecord>(`/services/${backup.serviceId}/backups/${backup.id}`);
  }
  return current;
}

async function create(api: Api, service: string): Promise<CommandOutput> {
  const requested = await api.call<BackupRecord>(await findBackupsPath(api, service), { method: 'POST' });
  const backup = await wait(api, requested, ({ status }) => status === 'in_progress');
  const { id, status, type, sizeInBytes, error } = backup;
  if (status === 'error') throw new AppError('conflict', `The backup ${id} failed: ${error}`);
  return { json: backup, notes: [`Backed up ${service}: ${type}, ${formatBytes(sizeInBytes)}.`], lines: [id] };
}

async function verify(api: Api, service: string, id: string): Promise<CommandOutput> {
  const path = `${await findBackupsPath(api, service)}/${id}/verification`;
  const requested = await api.call<BackupRecord>(path, { method: 'POST' });
  const backup = await wait(api, requested, ({ verification }) => verification?.status === 'in_progress');
  const { status, tables, rows, error = 'The backup was not verified' } = backup.verification ?? {};
  if (status !== 'done') throw new AppError('conflict', error);
  const text = `The backup can be restored: ${tables} tables with ${rows} rows have the expected checksums.`;
  return { json: backup, lines: [text] };
}

export const serviceBackup = defineCommand({
  name: 'service backup',
  summary: 'List the backups of a service, make one now, or verify one by restoring it',
  settings: API_SETTINGS,
  arguments: {
    action: argument('<action>', `${ACTIONS.join(', ')}; verify needs the id of a backup`, oneOf(ACTIONS)),
    service: serviceArgument,
    backup: argumentList('[backup...]', 'Id of the backup to verify'),
  },
  options: { org: organizationOption, json: jsonOption },
  async run({ findServer, withApi, arguments: { action, service, backup } }) {
    const [id] = backup;
    if (backup.length !== (action === 'verify' ? 1 : 0))
      throw new UsageError(['verify needs the id of one backup; list and create need none']);
    // Without a server nothing would be done.
    if (action !== 'list' && !(await findServer()))
      throw new UsageError(['only the running server works on backups: use --url, PILOTHOUSE_URL or a profile']);
    return withApi((api) => {
      if (action === 'list') return list(api, service);
      return id === undefined ? create(api, service) : verify(api, service, id);
    });
  },
});
