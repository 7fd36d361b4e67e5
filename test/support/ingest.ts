import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { Credentials } from './client.ts';
import { acme, globex } from './fleet.ts';
import { type InProcessServer, openInProcessServer } from './in-process-server.ts';
import { createDatabase, MIGRATED } from './postgres.ts';
import { START_LIMIT_MS, type StoreName } from './server.ts';

interface Organization {
  id: string;
  admin: Credentials;
}

/** Creates a token that may send telemetry and nothing else. */
export async function createIngestToken(url: string, { id, admin }: Organization): Promise<string> {
  const response = await fetch(`${url}/v1/organizations/${id}/dashboardTokens`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${admin.keyId}:${admin.keySecret}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'sender', access: 'ingest' }),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text).result.token;
}

/** A server that receives telemetry, and a token for each of two organizations. Use it inside tests and hooks only. */
export function useIngest(store: StoreName, flags: Parameters<typeof openInProcessServer>[0] = {}) {
  const found = { server: undefined as unknown as InProcessServer, acme: '', globex: '' };
  let drop = async () => {};
  beforeAll(async () => {
    const database =
      store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    if (database) drop = database.drop;
    found.server = await openInProcessServer({
      telemetry: 'off',
      otlpPort: '0',
      otlpGrpcPort: '0',
      ...flags,
      ...(database && { databaseUrl: database.url }),
    });
    found.acme = await createIngestToken(found.server.url, acme);
    found.globex = await createIngestToken(found.server.url, globex);
  }, START_LIMIT_MS);
  afterAll(async () => {
    await found.server?.remove();
    await drop();
  }, START_LIMIT_MS);
  return found;
}
