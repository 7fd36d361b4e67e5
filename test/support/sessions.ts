import { expect } from 'vitest';
import type { ApiResponse, Call, Credentials, Json } from './client.ts';

export const SESSION = '/console/session';

/** A console session: the response to the sign-in and the headers that a browser sends. */
export interface SignedIn {
  /** The name of the cookie: the same for all sessions of a server, and another on every server. */
  cookieName: string;
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
  const setCookie = response.headers.get('set-cookie') ?? '';
  const [, cookieName = '', secret = ''] = /^(pilothouse_session_[0-9a-f]{32})=([\w-]{43});/.exec(setCookie) ?? [];
  expect(secret, setCookie).not.toBe('');
  const { csrf } = response.json;
  const cookie = `${cookieName}=${secret}`;
  const sent = { cookie, 'x-pilothouse-csrf': csrf };
  return { cookieName, secret, csrf, cookie: { cookie }, headers: sent, json: response.json };
}

export const getSession = (server: Callable, { cookie }: SignedIn): Promise<ApiResponse> =>
  server.call({ path: SESSION, headers: cookie });
