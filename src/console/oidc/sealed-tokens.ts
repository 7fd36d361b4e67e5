import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { ProviderTokens } from './provider.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The tokens of the identity provider are stored encrypted with a key that only the browser has: it is derived from the
 * secret in the session cookie, of which the store has a hash. A copy of the store cannot be used at the provider.
 */
export function sealTokens(secret: string, tokens: ProviderTokens): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, deriveKey(secret), iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(tokens)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

export function openTokens(secret: string, text: string): ProviderTokens {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(ALGORITHM, deriveKey(secret), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  return JSON.parse(opened.toString('utf8'));
}

const deriveKey = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'provider tokens', 32));
