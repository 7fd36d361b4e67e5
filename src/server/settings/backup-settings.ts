import type { Setting } from './setting.ts';
import { INVALID, nonEmpty, parseDurationMs, parsePublicUrl } from './setting-parsers.ts';

const STORAGE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9!_.*'()/-]{0,512}))?$/;

/** `s3://bucket/prefix`; the prefix gets a slash at its end. */
function parseStorage(text: string): { bucket: string; prefix: string } | typeof INVALID {
  const [, bucket, path = ''] = STORAGE.exec(text) ?? [];
  if (bucket === undefined) return INVALID;
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..')) return INVALID;
  return { bucket, prefix: segments.map((segment) => `${segment}/`).join('') };
}

function parseTimeout(text: string): number | typeof INVALID {
  const ms = parseDurationMs(text);
  return ms === 0 ? INVALID : ms;
}

/** Where the backups of services are. */
export const BACKUP_SETTINGS = {
  backupDirectory: {
    flag: '--backup-directory',
    argument: '<directory>',
    variable: 'PILOTHOUSE_BACKUP_DIRECTORY',
    help: 'Directory of the backups of embedded services; may be a mount',
    fallbackHelp: 'backups in the data directory',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  backupStorage: {
    flag: '--backup-storage',
    argument: '<s3://bucket/prefix>',
    variable: 'PILOTHOUSE_BACKUP_STORAGE',
    help: 'S3-compatible storage for new backups of services, instead of the directory',
    parse: parseStorage,
    rule: 'must look like s3://bucket or s3://bucket/prefix',
  },
  backupS3Endpoint: {
    flag: '--backup-s3-endpoint',
    argument: '<url>',
    variable: 'PILOTHOUSE_BACKUP_S3_ENDPOINT',
    help: 'Address of S3-compatible storage other than AWS, such as https://minio.example.com:9000',
    parse: parsePublicUrl,
    rule: 'must look like https://minio.example.com:9000, without credentials',
  },
  backupS3Region: {
    flag: '--backup-s3-region',
    argument: '<region>',
    variable: 'PILOTHOUSE_BACKUP_S3_REGION',
    help: 'Region of the bucket',
    fallback: 'us-east-1',
    parse: (text: string): string | typeof INVALID => (/^[a-z0-9-]{1,64}$/i.test(text) ? text : INVALID),
    rule: 'must look like us-east-1',
  },
  backupS3CredentialsFile: {
    flag: '--backup-s3-credentials-file',
    argument: '<file>',
    variable: 'PILOTHOUSE_BACKUP_S3_CREDENTIALS_FILE',
    help: 'File with aws_access_key_id and aws_secret_access_key, in the format of AWS; may be replaced while the server runs',
    fallbackHelp: 'AWS_ACCESS_KEY_ID and the other sources that AWS defines',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  backupS3SqlCredentialsFile: {
    flag: '--backup-s3-sql-credentials-file',
    argument: '<file>',
    variable: 'PILOTHOUSE_BACKUP_S3_SQL_CREDENTIALS_FILE',
    help: 'File in the same format with the key that each service on Kubernetes and behind a webhook gets to write its backups; give it no more rights than that needs',
    fallbackHelp: 'these services are not backed up',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  backupS3TimeoutMs: {
    flag: '--backup-s3-timeout',
    argument: '<duration>',
    variable: 'PILOTHOUSE_BACKUP_S3_TIMEOUT',
    help: 'Time limit for one request to the storage, such as 60s; a request has 8 MiB (more for files above 70 GiB) and is tried at most 4 times',
    fallback: '60s',
    parse: parseTimeout,
    rule: 'must look like 500ms or 60s, be more than 0 and at most 1 hour',
  },
} as const satisfies Record<string, Setting>;

/** Whether services elsewhere can be backed up: ClickHouse itself writes to the storage, with a key of its own. */
export const hasSqlStorage = (config: {
  backupStorage?: object | undefined;
  backupS3SqlCredentialsFile?: string | undefined;
}): boolean => config.backupStorage !== undefined && config.backupS3SqlCredentialsFile !== undefined;
