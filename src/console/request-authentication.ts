import type { FastifyRequest } from 'fastify';
import { SESSION_CHALLENGE } from '../kernel/access/challenges.ts';
import { AppError } from '../kernel/errors.ts';
import { checkAddress, withChallenge } from '../platform/http/guard.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { requireSameSite } from '../platform/http/requests/cross-site.ts';
import type { App } from '../platform/http/requests/validation.ts';
import { toIdentity } from './authentication.ts';
import type { Session } from './session.ts';
import type { SessionCookies } from './session-cookie.ts';
import type { SessionCredential } from './session-credential.ts';
import type { Sessions } from './sessions.ts';

/** For all routes of the console: pages of other sites may not call them, and nothing is cached. */
export function protectRoutes(app: App): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    requireSameSite(request);
  });
}

/** Past the limit of failed attempts, rejects a credential that was not accepted from this address lately. */
export async function authenticate<T>(
  attempts: AttemptLimit,
  { clientAddress }: FastifyRequest,
  credential: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await attempts.run(clientAddress, credential, work);
  } catch (error) {
    throw withChallenge(error, SESSION_CHALLENGE);
  }
}

/** Identifies the request and rejects addresses outside the key's IP access list. */
export function admit(request: FastifyRequest, credential: SessionCredential): void {
  request.identity = toIdentity(credential);
  checkAddress(request.identity, request.clientAddress);
}

/** A request without a cookie is not a failed sign-in, so it does not count as one. */
export function getSecret(cookies: SessionCookies, { headers }: FastifyRequest): string {
  const secret = cookies.find(headers);
  if (secret === undefined) throw notSignedIn({ 'www-authenticate': SESSION_CHALLENGE });
  return secret;
}

interface Options {
  sessions: Pick<Sessions, 'find'>;
  cookies: SessionCookies;
  attempts: AttemptLimit;
}

/** Throws `unauthorized` without a session. */
export async function getSession(
  { sessions, cookies, attempts }: Options,
  request: FastifyRequest,
): Promise<{ session: Session; credential: SessionCredential; secret: string }> {
  const secret = getSecret(cookies, request);
  const found = await authenticate(attempts, request, secret, async () => {
    const one = await sessions.find(secret);
    if (!one) throw notSignedIn();
    return one;
  });
  admit(request, found.credential);
  return { ...found, secret };
}

export const notSignedIn = (headers = {}): AppError => new AppError('unauthorized', 'Not signed in', { headers });
