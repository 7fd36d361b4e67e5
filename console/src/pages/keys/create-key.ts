import type { Operations } from '../../api/generated.ts';
import type { Key, NewKey } from '../../api/types.ts';
import { createOwnCredentials } from './browser-credentials.ts';

/** A key with its credentials, which exist nowhere else. */
export interface MadeKey {
  key: Key;
  keyId: string;
  keySecret: string;
  isHashed: boolean;
}

/** Made by the server, or in the browser, in which case the server learns their hashes only. */
export async function makeKey(
  api: Operations,
  organizationId: string,
  body: NewKey,
  isHashed: boolean,
): Promise<MadeKey> {
  if (isHashed) {
    const { keyId, keySecret, hashData } = await createOwnCredentials();
    const { key } = await api.openapiKeyCreate({ organizationId, body: { ...body, hashData } });
    return { key, keyId, keySecret, isHashed };
  }
  const { key, keyId = '', keySecret = '' } = await api.openapiKeyCreate({ organizationId, body });
  return { key, keyId, keySecret, isHashed };
}
