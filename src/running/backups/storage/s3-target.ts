import { AppError } from '../../../kernel/errors.ts';
import { quoteText } from '../../../platform/listener/query.ts';
import type { S3Address } from './s3-requests.ts';
import type { SecretSql } from './storage.ts';

/** The address of an object, as ClickHouse expects it. */
export function formatUrl({ bucket, endpoint, region }: S3Address, key: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/');
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}/${path}`;
  // The certificate of AWS is not valid for a bucket whose name has a dot.
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.') ? `https://${host}/${bucket}/${path}` : `https://${bucket}.${host}/${path}`;
}

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** ClickHouse shows `[HIDDEN]` in place of the secret in its logs and tables. */
export function formatTarget(location: string, url: string, credentials: Credentials): SecretSql {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  if (sessionToken !== undefined)
    throw new AppError(
      'conflict',
      `The credentials for ${location} are temporary, which ClickHouse does not accept; use an access key without a session token`,
    );
  return {
    sql: `S3(${[url, accessKeyId, secretAccessKey].map(quoteText).join(', ')})`,
    secret: secretAccessKey,
  };
}
