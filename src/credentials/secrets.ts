import { hash, randomFillSync, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_ID_LENGTH = 20;
/** 43 × log2(62) > 256 bits. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** The last four characters, which a record may show. */
export const suffixOf = (text: string): string => [...text].slice(-4).join('');

const REVEALABLE_LENGTH = 16;

/** Of a token the suffix is part of the secret itself: a short one shows nothing. */
export const tokenSuffixOf = (token: string): string => (token.length < REVEALABLE_LENGTH ? '' : suffixOf(token));

/** base64(SHA-256(text)). The secrets have 256 random bits: a slow hash would only slow down ourselves. */
export const hashOf = (text: string): string => hash('sha256', text, 'base64');

export const newKeyId = (): string => randomText(KEY_ID_LENGTH);
export const newKeySecret = (): string => selfIdentifying('phs_');
export const newToken = (): string => selfIdentifying('pht_');
export const newWebhookSecret = (): string => selfIdentifying('phw_');

/** A prefix and a checksum of its own, so that a scanner finds a leaked one without knowing anything else. */
function selfIdentifying(prefix: string): string {
  const body = prefix + randomText(RANDOM_LENGTH);
  return body + checksum(body);
}

/** Is this one of ours, as far as its text can tell? For scanners and tests; a caller's own credentials have any shape. */
export function isSelfIdentifying(text: string): boolean {
  return (
    /^ph[stw]_[0-9A-Za-z]{49}$/.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
  );
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET[rest % ALPHABET.length] + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

function randomText(length: number): string {
  const fair = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    if (byte < fair) text += ALPHABET[byte % ALPHABET.length];
  }
  return text;
}

const pool = Buffer.alloc(4096);
let used = pool.length;

/** One call of the system for thousands of bytes; each is wiped as it is taken. */
function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used] ?? 0;
  pool[used++] = 0;
  return byte;
}

/** Compares in constant time. */
export function isSameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
