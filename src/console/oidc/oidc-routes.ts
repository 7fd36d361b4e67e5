import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getOrigin } from '../../management/audit/request-actor.ts';
import type { Admission } from '../../management/members/admission.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import type { AttemptLimit } from '../../platform/http/limits/attempt-limit.ts';
import type { RateLimiter } from '../../platform/http/limits/rate-window.ts';
import type { BasePath } from '../../platform/http/requests/base-path.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { OidcQuery } from '../schema.ts';
import { MAX_SESSION_MS } from '../session.ts';
import type { SessionCookies } from '../session-cookie.ts';
import type { Sessions } from '../sessions.ts';
import { type Provider, SignInError, type SignInProblem } from './provider.ts';
import { createTransactionCookies, type PendingSignIn, toLocalPath } from './transaction-cookie.ts';

interface Options {
  provider: Provider | undefined;
  sessions: Sessions;
  admission: Admission;
  cookies: SessionCookies;
  basePath: BasePath;
  publicUrl: string | undefined;
  attempts: AttemptLimit;
  /** Sign-ins that are started, by address. */
  signIns: RateLimiter | undefined;
  clock: Clock;
}

const tags = ['Console'];
export const CALLBACK_PATH = '/console/sign-in/oidc/callback';

/** Sign-in with the identity provider: to the provider and back. */
export function oidcRoutes(options: Options): Routes {
  const { provider, sessions, admission, cookies, basePath, publicUrl, attempts, signIns, clock } = options;
  const isSecure = publicUrl?.startsWith('https:') ?? false;
  const transactions = createTransactionCookies(`${cookies.name}_oidc`, {
    isSecure,
    path: `${basePath}${CALLBACK_PATH}`,
  });

  /** Opens the sign-in page, which explains the problem. */
  function sendProblem(reply: FastifyReply, problem: SignInProblem, returnTo = '/', account?: string): FastifyReply {
    const to = toLocalPath(returnTo);
    const query = new URLSearchParams({
      problem,
      ...(to !== '/' && { to }),
      ...(account !== undefined && { account }),
    });
    return reply.redirect(`${basePath}/sign-in?${query}`, 303);
  }

  async function finish(current: Provider, request: FastifyRequest, pending: PendingSignIn, query: string) {
    const { person, ...proof } = await current.finish(query, pending, clock.now());
    const { user, memberships } = await admission.admit(person, getOrigin(request));
    const [first] = memberships;
    if (!first) return { account: user.email === '' ? user.name : user.email };
    const previous = pending.previous === '' ? undefined : pending.previous;
    return sessions.openForMember(user, first.organizationId, getOrigin(request), { proof, previous });
  }

  return (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      reply.header('referrer-policy', 'no-referrer');
    });

    app.get(
      '/console/sign-in/oidc',
      {
        config: { operation: 'consoleOidcSignIn' },
        schema: {
          tags,
          summary: 'Sign in with the identity provider',
          description: 'For browsers: redirects to the identity provider, which redirects back to the console.',
          querystring: OidcQuery,
          response: {
            303: { type: 'null', description: 'To the identity provider, or to the sign-in page with the problem' },
          },
        },
      },
      async (request, reply) => {
        const { returnTo, fresh } = request.query;
        if (!provider) return sendProblem(reply as FastifyReply, 'no-provider');
        const status = await signIns?.take(`oidc ${request.clientAddress}`);
        if (status && !status.isAllowed) return sendProblem(reply as FastifyReply, 'too-many-attempts', returnTo);
        try {
          const { url, transaction } = await provider.start(fresh === '1');
          const secret = cookies.find(request.headers);
          const previous = secret === undefined ? '' : hashSecret(secret);
          const pending = { ...transaction, returnTo: toLocalPath(returnTo), previous };
          return reply.header('set-cookie', transactions.format(pending)).redirect(url, 303);
        } catch (error) {
          if (error instanceof SignInError) return sendProblem(reply as FastifyReply, error.problem, returnTo);
          throw error;
        }
      },
    );

    app.get(
      CALLBACK_PATH,
      { config: { operation: 'consoleOidcCallback' }, schema: { hide: true } },
      async (request, untyped) => {
        const reply = untyped as FastifyReply;
        if (!provider) return sendProblem(reply, 'no-provider');
        const query = request.url.split('?')[1] ?? '';
        const state = new URLSearchParams(query).get('state') ?? '';
        const pending = transactions.find(request.headers, state);
        if (!pending) return sendProblem(reply, 'expired');
        reply.header('set-cookie', transactions.formatDeleted(state));
        try {
          const opened = await attempts.run(request.clientAddress, state, () =>
            finish(provider, request, pending, query).catch(asFailedAttempt),
          );
          if ('account' in opened) return sendProblem(reply, 'not-a-member', pending.returnTo, opened.account);
          attempts.accept(request.clientAddress, opened.secret);
          const cookie = cookies.format(request.headers, opened.secret, MAX_SESSION_MS / 1000, isSecure);
          reply.header('set-cookie', [transactions.formatDeleted(state), cookie]);
          return reply.redirect(`${basePath}${toLocalPath(pending.returnTo)}`, 303);
        } catch (error) {
          const problem = findProblem(error);
          if (problem) return sendProblem(reply, problem, pending.returnTo);
          throw error;
        }
      },
    );
  };
}

/** The limit of failed attempts counts what is `unauthorized`. */
function asFailedAttempt(error: unknown): never {
  if (error instanceof SignInError && error.problem === 'invalid-response')
    throw new AppError('unauthorized', error.message, { cause: error });
  throw error;
}

function findProblem(error: unknown): SignInProblem | undefined {
  if (error instanceof SignInError) return error.problem;
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'too_many_requests') return 'too-many-attempts';
  if (error.code === 'unauthorized') return error.cause instanceof SignInError ? error.cause.problem : 'not-a-member';
  return undefined;
}
