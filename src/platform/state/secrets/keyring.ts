import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { AppError } from '../../../kernel/errors.ts';
import { readFileVersion, readKeyFile, type SealingKey } from './key-file.ts';

/** The version of the format. A sealed text is `enc1:<id of the key>:<nonce, ciphertext and tag in base64url>`. */
const PREFIX = 'enc1';
const SEALED = /^enc1:([0-9a-f]{16}):([A-Za-z0-9_-]+)$/;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Where a text is stored. A sealed text can be opened in its own place only. */
export type SealPlace = readonly string[];

export type Keyring = ReturnType<typeof createKeyring>;

export const isSealed = (text: string): boolean => text.startsWith(`${PREFIX}:`);
/** Whether there can be a sealed text in a JSON document. */
export const hasSealedPart = (document: string): boolean => document.includes(`"${PREFIX}:`);

/** The keys of a file, which is read again when it was replaced: a rotation needs no restart. */
export function createKeyring(path: string, keys: readonly SealingKey[]) {
  let version = readFileVersion(path);
  let [current] = keys;
  const byId = new Map(keys.map((key) => [key.id, key]));

  /** A file that is gone or not valid changes nothing. Keys that it no longer has still decrypt. */
  function refresh(): void {
    const found = readFileVersion(path);
    if (found === undefined || found === version) return;
    version = found;
    let read: SealingKey[] | undefined;
    try {
      read = readKeyFile(path);
    } catch {
      return;
    }
    for (const key of read ?? []) byId.set(key.id, key);
    current = read?.[0] ?? current;
  }

  function getCurrent(): SealingKey {
    refresh();
    if (!current) throw new AppError('internal', `The key file ${path} has no key`);
    return current;
  }

  function find(id: string): SealingKey {
    if (!byId.has(id)) refresh();
    const key = byId.get(id);
    if (!key) throw new AppError('internal', `The key ${id} that a secret is encrypted with is not in ${path}`);
    return key;
  }

  return {
    path,
    seal(place: SealPlace, text: string): string {
      const { id, key } = getCurrent();
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(toAad(place));
      const content = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${PREFIX}:${id}:${content.toString('base64url')}`;
    },

    /** A text that is not sealed is from before there were keys, and is returned as it is. */
    open(place: SealPlace, text: string): string {
      if (!isSealed(text)) return text;
      const [, id = '', content = ''] = SEALED.exec(text) ?? [];
      const { key } = find(id);
      const bytes = Buffer.from(content, 'base64url');
      try {
        const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        cipher.setAAD(toAad(place)).setAuthTag(bytes.subarray(-TAG_BYTES));
        return cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + cipher.final('utf8');
      } catch (error) {
        throw new AppError('internal', `The secret in ${place.slice(0, 2).join('.')} was changed or moved`, {
          cause: error,
        });
      }
    },

    /** Whether the text is sealed with the key that encrypts now. */
    isCurrent: (text: string): boolean => text.startsWith(`${PREFIX}:${getCurrent().id}:`),
    currentId: (): string => getCurrent().id,
  };
}

const toAad = (place: SealPlace): Buffer => Buffer.from(JSON.stringify(place));
