import { expect } from 'vitest';
import type { ApiResponse, Call, Credentials, Json } from './client.ts';

export const SESSION = '/console/session';

/** Somebody who is signed in: what their browser sends, and what it was told. */
export interface SignedIn {
  /** What the cookie holds. */
  secret: string;
  csrf: string;
  /** The cookie alone, as any page can make a browser send it. */
  cookie: { cookie: string };
  /** Cookie and csrf token, as the console sends them. */
  headers: Record<string, string>;
  json: Json;
}

interface Callable {
  call(call: Call): Promise<ApiResponse>;
}

export const postSession = (
  server: Callable,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> => server.call({ method: 'POST', path: SESSION, body, headers });

export async function signIn(
  server: Callable,
  credentials: Credentials | { token: string },
  headers: Record<string, string> = {},
): Promise<SignedIn> {
  const answer = await postSession(server, credentials, headers);
  expect(answer.status, answer.text).toBe(200);
  const secret = /^pilothouse_session=([\w-]{43});/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
  expect(secret).not.toBe('');
  const { csrf } = answer.json;
  const cookie = `pilothouse_session=${secret}`;
  return { secret, csrf, cookie: { cookie }, headers: { cookie, 'x-pilothouse-csrf': csrf }, json: answer.json };
}

export const getSession = (server: Callable, { cookie }: SignedIn): Promise<ApiResponse> =>
  server.call({ path: SESSION, headers: cookie });
