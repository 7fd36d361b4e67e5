import { expect } from 'vitest';
import type { ApiResponse, Call, Credentials, Json } from './client.ts';

export const SESSION = '/console/session';

/** A console session: the response to the sign-in and the headers that a browser sends. */
export interface SignedIn {
  /** The value of the cookie. */
  secret: string;
  csrf: string;
  /** The cookie alone, which a browser also sends with requests from other pages. */
  cookie: { cookie: string };
  /** Cookie and CSRF token, as the console sends them. */
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
  const response = await postSession(server, credentials, headers);
  expect(response.status, response.text).toBe(200);
  const secret = /^pilothouse_session=([\w-]{43});/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '';
  expect(secret).not.toBe('');
  const { csrf } = response.json;
  const cookie = `pilothouse_session=${secret}`;
  return { secret, csrf, cookie: { cookie }, headers: { cookie, 'x-pilothouse-csrf': csrf }, json: response.json };
}

export const getSession = (server: Callable, { cookie }: SignedIn): Promise<ApiResponse> =>
  server.call({ path: SESSION, headers: cookie });
