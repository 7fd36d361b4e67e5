import { hash } from 'node:crypto';
import { expect } from 'vitest';
import type { ApiResponse, Credentials } from './client.ts';
import { acme } from './fleet.ts';
import type { TestServer } from './server.ts';

interface Owner {
  id: string;
  admin: Credentials;
}

export const keysPath = (owner: Owner = acme): string => `/v1/organizations/${owner.id}/keys`;

export const postKey = (server: TestServer, body?: unknown, owner: Owner = acme): Promise<ApiResponse> =>
  server.call({ method: 'POST', path: keysPath(owner), key: owner.admin, ...(body === undefined ? {} : { body }) });

/** A key created over HTTP: its record and its credentials. */
export async function createKey(
  server: TestServer,
  body: object = {},
  owner: Owner = acme,
): Promise<{ id: string; credentials: Credentials }> {
  const { status, json, text } = await postKey(server, body, owner);
  expect(status, text).toBe(200);
  return { id: json.result.key.id, credentials: { keyId: json.result.keyId, keySecret: json.result.keySecret } };
}

/** The record id of a key declared in the fleet file. */
export async function getKeyId(server: TestServer, name: string, owner: Owner = acme): Promise<string> {
  const { json } = await server.call({ path: keysPath(owner), key: owner.admin });
  return json.result.find((key: { name: string }) => key.name === name).id;
}

/** A request that every key with read access may make. */
export const readWithKey = (
  server: TestServer,
  key: Credentials,
  headers: Record<string, string> = {},
): Promise<ApiResponse> => server.call({ path: '/v1/organizations', key, headers });

/** base64(SHA-256(text)), computed independently of the program under test. */
export const sha256 = (text: string): string => hash('sha256', text, 'base64');

export const toHashData = ({ keyId, keySecret }: Credentials) => ({
  keyIdHash: sha256(keyId),
  keyIdSuffix: keyId.slice(-4),
  keySecretHash: sha256(keySecret),
});
