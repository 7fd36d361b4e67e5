import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../kernel/errors.ts';
import { getActor, getOrigin } from '../management/audit/request-actor.ts';
import { checkAddress, SESSION_CHALLENGE, withChallenge } from '../platform/http/guard.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { requireSameSite } from '../platform/http/requests/cross-site.ts';
import { NoQuery, type Routes } from '../platform/http/requests/validation.ts';
import { toIdentity } from './authentication.ts';
import { OwnSessionRecord, SessionIdPath, SignedOut, SwitchBody, toSessionSummary } from './schema.ts';
import type { Session } from './session.ts';
import type { SessionCookies } from './session-cookie.ts';
import type { SessionCredential } from './session-credential.ts';
import type { SessionLists } from './session-lists.ts';
import type { Sessions } from './sessions.ts';

interface Options {
  sessions: Sessions;
  sessionLists: SessionLists;
  cookies: SessionCookies;
  attempts: AttemptLimit;
}

const tags = ['Console'];
const security = [{ session: [] }];

/** The sessions of the person, and the organization of the current one. */
export function ownSessionRoutes({ sessions, sessionLists, cookies, attempts }: Options): Routes {
  /** Throws `unauthorized` without a session. */
  async function getSession(request: FastifyRequest): Promise<{ session: Session; credential: SessionCredential }> {
    const secret = cookies.find(request.headers) ?? '';
    try {
      const found = await attempts.run(request.clientAddress, secret, async () => {
        const one = await sessions.find(secret);
        if (!one) throw new AppError('unauthorized', 'Not signed in');
        return one;
      });
      request.identity = toIdentity(found.credential);
      checkAddress(request.identity, request.clientAddress);
      return found;
    } catch (error) {
      throw withChallenge(error, SESSION_CHALLENGE);
    }
  }

  return (app) => {
    app.addHook('onRequest', async (request, reply) => {
      reply.header('cache-control', 'no-store');
      requireSameSite(request);
    });

    app.get(
      '/console/sessions',
      {
        config: { operation: 'consoleSessionGetList' },
        schema: {
          tags,
          summary: 'List own sessions',
          description: 'The open sessions of the person or key that is signed in, newest first.',
          security,
          querystring: NoQuery,
          response: { 200: Type.Array(OwnSessionRecord) },
        },
      },
      async (request) => {
        const { session } = await getSession(request);
        return (await sessionLists.listOwn(session)).map((one) => ({
          ...toSessionSummary(one),
          isCurrent: one.hash === session.hash,
        }));
      },
    );

    app.delete(
      '/console/sessions',
      {
        config: { operation: 'consoleSessionsDelete' },
        schema: {
          tags,
          summary: 'Sign out everywhere',
          description: 'Ends all sessions of the person or key that is signed in, also this one.',
          security,
          querystring: NoQuery,
          response: { 200: SignedOut },
        },
      },
      async (request, reply) => {
        const { session } = await getSession(request);
        await sessionLists.endOwn(getActor(request), session);
        reply.header('set-cookie', cookies.formatDeleted(request.headers));
        return {};
      },
    );

    app.delete(
      '/console/sessions/:sessionId',
      {
        config: { operation: 'consoleSessionDelete' },
        schema: {
          tags,
          summary: 'End an own session',
          description: 'It is rejected from the next request on.',
          security,
          params: SessionIdPath,
          querystring: NoQuery,
          response: { 200: SignedOut },
        },
      },
      async (request) => {
        const { session } = await getSession(request);
        await sessionLists.endOwn(getActor(request), session, request.params.sessionId.toLowerCase());
        return {};
      },
    );

    app.put(
      '/console/session/organization',
      {
        config: { operation: 'consoleSessionSwitch' },
        schema: {
          tags,
          summary: 'Switch organization',
          description:
            'Continues the session in another organization of the person. Read the session again afterwards.',
          security,
          body: SwitchBody,
          querystring: NoQuery,
          response: { 200: SignedOut },
        },
      },
      async (request) => {
        const { session } = await getSession(request);
        await sessions.switchTo(session, request.body.organizationId.toLowerCase(), getOrigin(request));
        return {};
      },
    );
  };
}
