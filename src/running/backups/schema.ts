import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoTime, SECOND_MS } from '../../kernel/time/clock.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Backup } from './backup.ts';

export const BackupPath = Type.Object({
  ...ServicePath.properties,
  backupId: Type.String({ format: 'uuid', description: 'Case-insensitive' }),
});

const time = (description?: string) => Type.String({ format: 'date-time', ...(description && { description }) });

const Verification = NamedObject(
  'BackupVerification',
  {
    status: Type.Enum(['in_progress', 'done', 'error']),
    verifiedAt: Type.Optional(time()),
    tables: Type.Optional(Type.Integer({ description: 'Tables that were compared' })),
    rows: Type.Optional(Type.Integer({ description: 'Rows of these tables' })),
    error: Type.Optional(Type.String()),
  },
  { description: 'The last restore into a temporary service, whose tables were compared with the backup' },
);

export const BackupRecord = NamedObject('Backup', {
  id: Type.String({ format: 'uuid' }),
  status: Type.Enum(['done', 'error', 'in_progress']),
  serviceId: Type.String(),
  startedAt: time(),
  finishedAt: Type.Optional(time()),
  sizeInBytes: Type.Optional(Type.Number({ description: 'Of an incremental backup: what it adds to the one before' })),
  durationInSeconds: Type.Optional(Type.Number()),
  type: Type.Enum(['full', 'incremental']),
  backupName: Type.String(),
  error: Type.Optional(Type.String({ description: 'Why the backup failed' })),
  expireAt: Type.Optional(time('When the backup of a deleted service is deleted')),
  unchangedAt: Type.Optional(time('When the data of an idle service was last found to be the same as in the backup')),
  verification: Type.Optional(Verification),
});

const optionalTime = <Name extends string>(name: Name, ms: number | undefined) =>
  (ms === undefined ? {} : { [name]: isoTime(ms) }) as { [Key in Name]?: string };

export function toBackupRecord(backup: Backup): Static<typeof BackupRecord> {
  const { id, status, serviceId, serviceName, startedAt, finishedAt, expireAt, unchangedAt, sizeBytes, baseId } =
    backup;
  const verification = toVerification(backup);
  return {
    id,
    status,
    serviceId,
    startedAt: isoTime(startedAt),
    type: baseId === undefined ? 'full' : 'incremental',
    backupName: `${serviceName} ${isoTime(startedAt)}`,
    ...optionalTime('finishedAt', finishedAt),
    ...optionalTime('expireAt', expireAt),
    ...optionalTime('unchangedAt', unchangedAt),
    ...(finishedAt === undefined ? undefined : { durationInSeconds: (finishedAt - startedAt) / SECOND_MS }),
    ...(sizeBytes === undefined ? undefined : { sizeInBytes: sizeBytes }),
    ...(backup.error === undefined ? undefined : { error: backup.error }),
    ...(verification ? { verification } : undefined),
  };
}

function toVerification({ pending, verification }: Backup): Static<typeof Verification> | undefined {
  if (pending === 'verify') return { status: 'in_progress' };
  if (!verification) return undefined;
  const { at, tables, rows, error } = verification;
  const verifiedAt = isoTime(at);
  return error === undefined ? { status: 'done', verifiedAt, tables, rows } : { status: 'error', verifiedAt, error };
}
