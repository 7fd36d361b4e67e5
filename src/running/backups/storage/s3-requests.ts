import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { AppError } from '../../../kernel/errors.ts';
import { readBoundedText } from '../../../kernel/files/read-file.ts';
import { readLimited } from '../../../kernel/read-limited.ts';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import { renderAuthorityAdvice } from '../../../platform/tls/unknown-authority.ts';

/** Where objects are, and how they are reached. */
export interface S3Address {
  bucket: string;
  /** Empty, or ends in a slash. */
  prefix: string;
  /** Of storage other than AWS. */
  endpoint?: string | undefined;
  region: string;
  /** In the format of AWS. Without it, the variables and files that AWS defines are used. */
  credentialsFile?: string | undefined;
  /** In the same format: of the key that ClickHouse elsewhere gets, to write backups itself. */
  sqlCredentialsFile?: string | undefined;
  /** Of one request, which sends or receives one part of a file. */
  timeoutMs: number;
}

type Sdk = typeof import('@aws-sdk/client-s3');
type Work<T> = (context: { sdk: Sdk; client: S3Client; signal: AbortSignal }) => Promise<T>;

const ATTEMPTS = 4;
/** Doubled after each attempt. */
const RETRY_MS = SECOND_MS / 4;
const CONNECTION_TIMEOUT_MS = 10 * SECOND_MS;
/** A request sends or receives this much of a file. Longer responses are rejected; a list of 1,000 keys has at most 7 MB. */
export const PART_BYTES = 8 * 2 ** 20;

/** Sends requests to S3-compatible storage, each with a time limit and a limited number of attempts. */
export function createS3Requests(address: S3Address, clock: Clock) {
  const { endpoint, region, credentialsFile, timeoutMs } = address;
  const location = `s3://${address.bucket}/${address.prefix}`;
  let loaded: Promise<{ sdk: Sdk; client: S3Client }> | undefined;

  /** With the first request: the client has hundreds of modules. */
  async function load(): Promise<{ sdk: Sdk; client: S3Client }> {
    const sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      region,
      // Names of buckets are rarely host names of other storage.
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(credentialsFile !== undefined && {
        credentials: async () => {
          // The client asks again for credentials that expire: a file that was changed is used by the next request.
          return { ...(await readCredentials(credentialsFile)), expiration: new Date(clock.now()) };
        },
      }),
      maxAttempts: 1,
      requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS },
      // We send SHA-256 ourselves; other storage does not know the checksums that the client would add.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    limitResponses(client, location);
    return { sdk, client };
  }

  return {
    location,

    /** `work` may be called several times. Throws an `AppError` with a sentence for users. */
    async send<T>(signal: AbortSignal, work: Work<T>): Promise<T> {
      loaded ??= load();
      const { sdk, client } = await loaded;
      for (let attempt = 1; ; attempt++) {
        try {
          return await work({ sdk, client, signal: limitTime(timeoutMs, signal) });
        } catch (error) {
          signal.throwIfAborted();
          if (attempt === ATTEMPTS || !isTransient(error)) throw explain(error, location, timeoutMs);
          await delay(RETRY_MS * 2 ** (attempt - 1), undefined, { signal });
        }
      }
    },
  };
}

/** Reads each response before the client sees it: the client would wait without end, and keep what it gets without a limit. */
function limitResponses({ config: { requestHandler } }: S3Client, location: string): void {
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = async (request, options: { abortSignal?: unknown } = {}) => {
    const output = await handle(request, options);
    const content = await readLimited(output.response.body, {
      maxBytes: PART_BYTES,
      signal: options.abortSignal as AbortSignal,
      sender: location,
    });
    output.response.body = Readable.from(content.length > 0 ? [content] : [], { objectMode: false });
    return output;
  };
}

/** An error of the client, or of Node. */
type S3Error = Error & { $metadata?: { httpStatusCode?: number }; code?: unknown };

/** Undefined without a response. */
const getStatus = (error: unknown): number | undefined => (error as S3Error).$metadata?.httpStatusCode;

export const isMissing = (error: unknown): boolean => {
  const { cause } = error as Error;
  return cause !== undefined && getStatus(cause) === 404 && (cause as Error).name !== 'NoSuchBucket';
};

const NO_CREDENTIALS = 'CredentialsProviderError';

function isTransient(error: unknown): boolean {
  if (error instanceof AppError || (error as Error).name === NO_CREDENTIALS) return false;
  const status = getStatus(error);
  if (status === undefined) return true;
  return status === 408 || status === 429 || (status >= 500 && status !== 501) || status < 300;
}

/** Only the status and the code of a response: its text may repeat parts of a signature. */
function explain(error: unknown, location: string, timeoutMs: number): AppError {
  if (error instanceof AppError) return error;
  const { name, message, code } = error as S3Error;
  const status = getStatus(error);
  const toError = (text: string) => new AppError('unavailable', `${location} ${text}`, { cause: error });
  if (name === NO_CREDENTIALS) return toError('cannot be used: there are no credentials for it');
  // The client also calls a lost connection a timeout, with the code of Node.
  if (typeof code === 'string') return toError(`cannot be reached: ${code}${renderAuthorityAdvice(code)}`);
  if (name === 'TimeoutError' || name === 'AbortError')
    return toError(`did not respond within ${timeoutMs / SECOND_MS} s`);
  if (status !== undefined)
    return toError(`responded with status ${status} ${/^\w{1,60}$/.test(name) ? name : ''}`.trimEnd());
  return toError(`cannot be reached: ${message}`);
}

const MAX_CREDENTIALS_BYTES = 64 * 1024;

/** Reads `aws_access_key_id` and the others, of the section `default` or of a file without sections. */
export async function readCredentials(path: string) {
  const text = await readBoundedText(path, MAX_CREDENTIALS_BYTES).catch((error: NodeJS.ErrnoException) => {
    throw new AppError('unavailable', `The credentials for backups cannot be read from ${path}: ${error.code}`);
  });
  const values = new Map<string, string>();
  let section = 'default';
  for (const line of text.split('\n')) {
    section = /^\s*\[\s*(.*?)\s*\]/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(aws_\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section === 'default' && name !== undefined && value !== undefined) values.set(name, value);
  }
  const accessKeyId = values.get('aws_access_key_id');
  const secretAccessKey = values.get('aws_secret_access_key');
  const sessionToken = values.get('aws_session_token');
  if (!accessKeyId || !secretAccessKey)
    throw new AppError('unavailable', `${path} must contain aws_access_key_id and aws_secret_access_key`);
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}
