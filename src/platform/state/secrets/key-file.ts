import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../../kernel/errors.ts';

const KEY_BYTES = 32;
/** A few hundred keys. */
const MAX_FILE_BYTES = 64 * 1024;
const FILE_NAME = 'secrets.key';

/** One key of the file, and its fingerprint, which the store may know. */
export interface SealingKey {
  id: string;
  key: KeyObject;
  /** The line of the file. */
  text: string;
}

export const getKeyFilePath = (dataDirectory: string, file: string | undefined): string =>
  file ?? join(dataDirectory, FILE_NAME);

/** The keys of the file: the first one encrypts, all decrypt. Undefined if there is no file. */
export function readKeyFile(path: string): SealingKey[] | undefined {
  if (!existsSync(path)) return undefined;
  let text: string;
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw invalid(path, `it has more than ${MAX_FILE_BYTES} bytes`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('conflict', `The key file ${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const keys = text.split('\n').flatMap((line, index) => {
    const content = line.trim();
    return content === '' || content.startsWith('#') ? [] : [parseKey(content, path, index + 1)];
  });
  if (keys.length === 0) throw invalid(path, 'it has no key');
  return keys;
}

function parseKey(text: string, path: string, line: number): SealingKey {
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (bytes?.length !== KEY_BYTES) throw invalid(path, `line ${line} is not a key of ${KEY_BYTES} bytes in base64`);
  const id = createHmac('sha256', bytes).update('pilothouse key id').digest('hex').slice(0, 16);
  return { id, key: createSecretKey(bytes), text };
}

const invalid = (path: string, reason: string): AppError =>
  new AppError('conflict', `The key file ${path} is not valid: ${reason}`);

/** Whether an error is about the key file, and not about the store. */
export const isKeyFileError = (error: unknown): boolean =>
  error instanceof AppError && /\bkey file\b/.test(error.message);

export const newKey = (): SealingKey => parseKey(randomBytes(KEY_BYTES).toString('base64'), 'new', 1);

const HEADING = `# Encrypts the secrets in the state store of Pilothouse: the first key encrypts, all decrypt.
# Keep a copy away from the backups of the store. Without this file, the secrets are lost.
`;

/** Creates the file with a new key, unless another process was faster. Durable when it returns. */
export function createKeyFile(path: string): SealingKey[] {
  const created = [newKey()];
  withTemporaryFile(path, created, (temporary) => {
    try {
      // Fails if there is a file meanwhile, in contrast to a rename: no key is ever replaced.
      linkSync(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  });
  return readKeyFile(path) ?? created;
}

/** Replaces the file: a process that reads it sees the old keys or the new ones. Durable when it returns. */
export const replaceKeyFile = (path: string, keys: readonly SealingKey[]): void =>
  withTemporaryFile(path, keys, (temporary) => renameSync(temporary, path));

function withTemporaryFile(path: string, keys: readonly SealingKey[], use: (temporary: string) => void): void {
  const directory = dirname(path);
  const temporary = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeDurably(temporary, HEADING + keys.map(({ text }) => `${text}\n`).join(''));
    use(temporary);
    syncDirectory(directory);
  } catch (error) {
    throw new AppError('conflict', `The key file ${path} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Only the owner can read it. */
function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Tells whether the file was replaced. Undefined if there is none. */
export function readFileVersion(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** Whether all users of the machine may read the file. A group may: a mounted secret of Kubernetes belongs to one. */
export const isReadableByOthers = (path: string): boolean => (statSync(path).mode & 0o007) !== 0;
