import { hash, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_ID_LENGTH = 20;
const SETUP_CODE_LENGTH = 24;
/** 43 × log2(62) > 256 bits. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** The last four characters, which a record may show. */
export const toSuffix = (text: string): string => [...text].slice(-4).join('');

const MIN_REVEALABLE_LENGTH = 16;

/** The suffix of a token is part of the secret, so a short token shows none. */
export const toTokenSuffix = (token: string): string => (token.length < MIN_REVEALABLE_LENGTH ? '' : toSuffix(token));

/** base64(SHA-256(text)). Generated secrets have 256 random bits, so a slow hash would add cost but no security. */
export const hashSecret = (text: string): string => hash('sha256', text, 'base64');

/** The hash of a missing secret, which must never authenticate. */
export const EMPTY_SECRET_HASH = hashSecret('');

/** Compares in constant time. */
export function isSameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

export const newKeyId = (): string => randomText(KEY_ID_LENGTH);
export const newKeySecret = (): string => withPrefixAndChecksum('phs_');
export const newToken = (): string => withPrefixAndChecksum('pht_');
export const newLinkSecret = (): string => withPrefixAndChecksum('phl_');
export const newInvitationSecret = (): string => withPrefixAndChecksum('phi_');
export const newWebhookSecret = (): string => withPrefixAndChecksum('phw_');
/** For the first organization: short enough to be read from a log. 24 × log2(62) > 142 bits. */
export const newSetupCode = (): string => randomText(SETUP_CODE_LENGTH);
export const newServicePassword = (): string => withPrefixAndChecksum('php_');

/** The hashes of a service's password: SHA-256 in base64, and for the MySQL protocol the SHA-1 of the SHA-1. */
export const hashPassword = (password: string) => ({
  passwordHash: hashSecret(password),
  passwordDoubleSha1Hash: hash('sha1', hash('sha1', password, 'buffer'), 'hex'),
});

const SESSION_SECRET_BYTES = 32;
const SESSION_SECRET = /^[A-Za-z0-9_-]{43}$/;

/** The value of a session cookie: 256 random bits. */
export const newSessionSecret = (): string => randomBytes(SESSION_SECRET_BYTES).toString('base64url');

/** Other text cannot be a session secret and is not looked up. */
export const isSessionSecret = (text: string): boolean => SESSION_SECRET.test(text);

/** The prefix and the checksum let a secret scanner recognize a leaked secret without further information. */
function withPrefixAndChecksum(prefix: string): string {
  const body = prefix + randomText(RANDOM_LENGTH);
  return body + checksum(body);
}

/** For scanners and tests. Secrets supplied by a client may have any format. */
export function isGeneratedSecret(text: string): boolean {
  return (
    /^ph[ilpstw]_[0-9A-Za-z]{49}$/.test(text) &&
    checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
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
  // Larger bytes would make the first characters of the alphabet more likely.
  const limit = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    if (byte < limit) text += ALPHABET[byte % ALPHABET.length];
  }
  return text;
}

const pool = Buffer.alloc(4096);
let used = pool.length;

/** One system call per 4 KB. Each byte is wiped from the pool when it is used. */
function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used] ?? 0;
  pool[used++] = 0;
  return byte;
}
