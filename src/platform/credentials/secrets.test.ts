import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  hashSecret,
  isGeneratedSecret,
  isSameHash,
  newInvitationSecret,
  newKeyId,
  newKeySecret,
  newLinkSecret,
  newServicePassword,
  newToken,
  newWebhookSecret,
  toSuffix,
  toTokenSuffix,
} from './secrets.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The checksum as an independent scanner would compute it: the CRC-32 of the preceding text in six base-62 digits. */
const parseBase62 = (digits: string) => [...digits].reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0);

const many = (make: () => string) => Array.from({ length: 2000 }, make);

describe('credentials', () => {
  it('K1: a key id has 20 characters of [A-Za-z0-9], is unique and uses the whole alphabet', () => {
    const ids = many(newKeyId);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{20}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.join('')).size).toBe(62);
  });

  it.each([
    ['key secret', newKeySecret, 'phs_'],
    ['token', newToken, 'pht_'],
    ['link', newLinkSecret, 'phl_'],
    ['invitation', newInvitationSecret, 'phi_'],
    ['webhook secret', newWebhookSecret, 'phw_'],
    ['service password', newServicePassword, 'php_'],
  ])('K1: a %s has a prefix, at least 256 random bits and a checksum', (_, make, prefix) => {
    const texts = many(make);
    expect(new Set(texts).size).toBe(texts.length);
    for (const text of texts) {
      expect(text.startsWith(prefix)).toBe(true);
      expect(text).toMatch(/^ph[ilpstw]_[A-Za-z0-9]{49}$/);
      expect(parseBase62(text.slice(-6))).toBe(crc32(text.slice(0, -6)));
      expect(isGeneratedSecret(text)).toBe(true);
    }
    expect((texts[0] ?? '').slice(prefix.length, -6).length * Math.log2(62)).toBeGreaterThanOrEqual(256);
  });

  it('K1: the checksum detects any wrong character', () => {
    const secret = newKeySecret();
    for (let index = 0; index < secret.length; index++) {
      for (const other of ['0', 'A', 'z', '_', '-']) {
        const changed = secret.slice(0, index) + other + secret.slice(index + 1);
        expect(isGeneratedSecret(changed)).toBe(changed === secret);
      }
    }
  });

  it.each([
    [''],
    ['phs_'],
    [newKeyId()],
    [`${newKeySecret()}x`],
    [newKeySecret().slice(0, -1)],
    [` ${newKeySecret()}`],
    [newKeySecret().replace('phs', 'pht')],
  ])('K1: %j is not a generated secret', (text) => {
    expect(isGeneratedSecret(text)).toBe(false);
  });

  it.each([
    ['', '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
    ['abc', 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='],
    ['é', 'SplVfkAzw1Od4utlRyAXytX5VX96BiWgnxw/biumnEw='],
  ])('K7: the hash of %j is base64(SHA-256) of its UTF-8 bytes', (text, hash) => {
    expect(hashSecret(text)).toBe(hash);
  });

  it.each([
    ['AcmeAdminKey00000001', '0001'],
    ['abcd', 'abcd'],
    ['abc', 'abc'],
    ['', ''],
  ])('K2: the suffix of %j is %j', (text, suffix) => {
    expect(toSuffix(text)).toBe(suffix);
  });

  it.each([
    [hashSecret('a'), hashSecret('a'), true],
    [hashSecret('a'), hashSecret('b'), false],
    [hashSecret('a'), hashSecret('a').slice(0, -1), false],
    [hashSecret('a'), '', false],
    ['', '', true],
  ])('M5: %j and %j are the same: %j', (a, b, isSame) => {
    expect(isSameHash(Buffer.from(a), Buffer.from(b))).toBe(isSame);
  });

  it('a token shows its last four characters; a short token shows none', () => {
    expect(toTokenSuffix(newToken())).toHaveLength(4);
    expect(['any', 'any-token', 'x'.repeat(15)].map(toTokenSuffix)).toEqual(['', '', '']);
  });
});
