import type { Operations } from '../../api/generated.ts';
import type { Key, NewKey } from '../../api/types.ts';
import { createBrowserCredentials } from './browser-credentials.ts';

/** A new key with its secret, which cannot be read again. */
interface CreatedKey {
  key: Key;
  keyId: string;
  keySecret: string;
  isHashed: boolean;
}

/** The server generates the credentials, or the browser does and sends only their hashes. */
export async function createKey(
  api: Operations,
  organizationId: string,
  body: NewKey,
  isHashed: boolean,
): Promise<CreatedKey> {
  if (isHashed) {
    const { keyId, keySecret, hashData } = await createBrowserCredentials();
    const { key } = await api.openapiKeyCreate({ organizationId, body: { ...body, hashData } });
    return { key, keyId, keySecret, isHashed };
  }
  const { key, keyId = '', keySecret = '' } = await api.openapiKeyCreate({ organizationId, body });
  return { key, keyId, keySecret, isHashed };
}
