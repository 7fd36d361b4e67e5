import type { ApiResponse, Call } from './client.ts';
import { until } from './until.ts';

export const EMPTY_FLEET = { organizations: [] };

const LINK = /\/setup#code=(\w+)/g;

/** The last setup code that a server printed, once it has printed `count` of them. */
export async function readSetupCode({ log }: { log(): string }, count = 1): Promise<string> {
  const read = async () => [...log().matchAll(LINK)].map(([, code]) => code);
  const codes = await until(read, (found) => found.length >= count, 'the server prints no setup code');
  return codes.at(-1) ?? '';
}

export const setUp = (
  server: { call(call: Call): Promise<ApiResponse> },
  body: { code?: string; name?: string; tier?: string },
): Promise<ApiResponse> =>
  server.call({ method: 'POST', path: '/console/setup', body: { name: 'Acme', tier: 'SCALE', ...body } });
