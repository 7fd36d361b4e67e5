import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { getActor, getOrigin } from '../management/audit/request-actor.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { type App, NoQuery, type Routes } from '../platform/http/requests/validation.ts';
import { getSession, protectRoutes } from './request-authentication.ts';
import { OwnSessionRecord, SessionIdPath, SignedOut, SwitchBody, toSessionSummary } from './schema.ts';
import type { SessionCookies } from './session-cookie.ts';
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
  const getOwn = (request: FastifyRequest) => getSession({ sessions, cookies, attempts }, request);

  return (app) => {
    protectRoutes(app as App);

    app.get(
      '/console/sessions',
      {
        config: { operation: 'consoleSessionGetList' },
        schema: {
          tags,
          summary: 'List sessions of the caller',
          description: 'The open sessions of the person or key that is signed in, newest first.',
          security,
          querystring: NoQuery,
          response: { 200: Type.Array(OwnSessionRecord) },
        },
      },
      async (request) => {
        const { session } = await getOwn(request);
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
        const { session } = await getOwn(request);
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
          summary: 'End a session of the caller',
          description: 'It is rejected from the next request on.',
          security,
          params: SessionIdPath,
          querystring: NoQuery,
          response: { 200: SignedOut },
        },
      },
      async (request) => {
        const { session } = await getOwn(request);
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
        const { session } = await getOwn(request);
        await sessions.switchTo(session, request.body.organizationId.toLowerCase(), getOrigin(request));
        return {};
      },
    );
  };
}
