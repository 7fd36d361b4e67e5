import type { Operations } from '../../api/generated.ts';
import type { Key } from '../../api/types.ts';
import { createBrowserCredentials } from './browser-credentials.ts';

/** The credentials of the new key, which cannot be read again, and the end of the old key. */
interface RotatedKey {
  keyId: string;
  keySecret: string;
  expiresAt: string | null;
}

/** The server generates the credentials, or the browser does and sends only their hashes. */
export async function rotateKey(
  api: Operations,
  organizationId: string,
  key: Key,
  gracePeriodHours: number,
  isHashed: boolean,
): Promise<RotatedKey> {
  const own = isHashed ? await createBrowserCredentials() : undefined;
  const { previous, ...result } = await api.openapiKeyRotate({
    organizationId,
    keyId: key.id,
    body: { gracePeriodHours, ...(own ? { hashData: own.hashData } : {}) },
  });
  const { keyId = '', keySecret = '' } = own ?? result;
  return { keyId, keySecret, expiresAt: previous.expireAt };
}
