import { expect } from 'vitest';
import type { Credentials } from './client.ts';

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
