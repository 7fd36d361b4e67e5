import type { Json } from './client.ts';
import { createClient } from './client.ts';
import { acme } from './fleet.ts';

/** Yesterday at ten o'clock, UTC. */
export const T0 = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + 10 * 3_600_000;

/** Sends requests below `/api/v2/`. */
export function createSearchClient(url: () => string, token = acme.token) {
  const client = createClient(() => ({ url: url(), dashboardUrl: url() }));
  return async (
    path: string,
    body: object,
    given = token,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; json: Json; text: string }> =>
    client({ method: 'POST', path: `/api/v2/${path}`, token: given, body, headers });
}
