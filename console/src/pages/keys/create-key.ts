import type { Operations } from '../../api/generated.ts';
import type { Key, NewKey } from '../../api/types.ts';
import { createBrowserCredentials } from './browser-credentials.ts';

/** A key with its credentials, which exist nowhere else. */
export interface CreatedKey {
  key: Key;
  keyId: string;
  keySecret: string;
  isHashed: boolean;
}

/** Made by the server, or in the browser, in which case the server learns their hashes only. */
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
