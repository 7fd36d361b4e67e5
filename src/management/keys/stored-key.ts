import { formatExpiry } from '../../platform/credentials/expiry.ts';
import { hashSecret, newKeyId, newKeySecret, toSuffix } from '../../platform/credentials/secrets.ts';
import type { IpAccessEntry, Key } from './key.ts';

export interface HashData {
  keyIdHash: string;
  keyIdSuffix: string;
  keySecretHash: string;
}

/** New credentials, or the hashes of the client's own, which are never returned. */
export function resolveCredentials(hashData: HashData | undefined) {
  if (hashData) return { hashes: hashData };
  const credentials = { keyId: newKeyId(), keySecret: newKeySecret() };
  return { hashes: hashCredentials(credentials), credentials };
}

export function toStoredKey(
  id: string,
  organizationId: string,
  createdAt: number,
  { keyIdHash, keyIdSuffix, keySecretHash }: HashData,
  settings: Pick<Key, 'name' | 'state' | 'roles' | 'customRoleIds' | 'ipAccessList' | 'expireAt'>,
): Key {
  const hashes = { keyIdHash, keySuffix: keyIdSuffix, keySecretHash };
  return { id, organizationId, ...settings, ...hashes, createdAt, usedAt: undefined };
}

/** Unknown fields of an entry are ignored: they are neither stored nor audited. */
export function pickKnownFields({ source, description }: IpAccessEntry): IpAccessEntry {
  return description === undefined ? { source } : { source, description };
}

export function hashCredentials({ keyId, keySecret }: { keyId: string; keySecret: string }): HashData {
  return { keyIdHash: hashSecret(keyId), keyIdSuffix: toSuffix(keyId), keySecretHash: hashSecret(keySecret) };
}

/** The fields of a key that the audit log may contain. */
export function toAuditFields({ name, state, roles, customRoleIds, ipAccessList, keySuffix, expireAt }: Key) {
  return { name, state, roles, customRoleIds, ipAccessList, keySuffix, expireAt: formatExpiry(expireAt) };
}
