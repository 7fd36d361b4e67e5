import { expect } from 'vitest';
import type { ApiResponse, Call, Credentials, Json } from './client.ts';

interface Callable {
  call(call: Call): Promise<ApiResponse>;
}

interface Owner {
  id: string;
  admin: Credentials;
}

export const getMembersPath = ({ id }: { id: string }): string => `/v1/organizations/${id}/members`;
export const getInvitationsPath = ({ id }: { id: string }): string => `/v1/organizations/${id}/invitations`;

/** Invites an address; the result has the secret of the link. */
export async function invite(
  server: Callable,
  owner: Owner,
  email: string,
  body: object = {},
): Promise<{ invitation: Json; secret: string }> {
  const path = getInvitationsPath(owner);
  const { status, json, text } = await server.call({
    method: 'POST',
    path,
    key: owner.admin,
    body: { email, ...body },
  });
  expect(status, text).toBe(200);
  return { invitation: json.result, secret: json.result.path.split('#')[1] };
}

export const accept = (server: Callable, secret: string): Promise<ApiResponse> =>
  server.call({ method: 'POST', path: '/console/invitation/accept', body: { secret } });

/** A member of a server without an identity provider, and the headers of their session. */
export async function join(server: Callable, owner: Owner, email: string, body: object = {}) {
  const { secret } = await invite(server, owner, email, body);
  const accepted = await accept(server, secret);
  expect(accepted.status, accepted.text).toBe(200);
  const [cookie = ''] = accepted.headers.get('set-cookie')?.split(';') ?? [];
  const session = await server.call({ path: '/console/session', headers: { cookie } });
  expect(session.status, session.text).toBe(200);
  const headers = { cookie, 'x-pilothouse-csrf': session.json.csrf };
  return { userId: String(session.json.credential.id), headers, session: session.json as Json };
}
