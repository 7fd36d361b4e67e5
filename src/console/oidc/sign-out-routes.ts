import { AppError } from '../../kernel/errors.ts';
import type { AttemptLimit } from '../../platform/http/limits/attempt-limit.ts';
import { NoQuery, type Routes } from '../../platform/http/requests/validation.ts';
import { BackChannelBody, FrontChannelQuery, SignedOut } from '../schema.ts';
import type { SessionCookies } from '../session-cookie.ts';
import type { SessionLists } from '../session-lists.ts';
import type { Provider } from './provider.ts';

interface Options {
  provider: Provider | undefined;
  sessionLists: SessionLists;
  cookies: SessionCookies;
  attempts: AttemptLimit;
}

const tags = ['Console'];
const MAX_FORM_BYTES = 128 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/** What the identity provider calls when a person signs out there. */
export function providerSignOutRoutes({ provider, sessionLists, cookies, attempts }: Options): Routes {
  return (app) => {
    app.addContentTypeParser(FORM, { parseAs: 'string', bodyLimit: MAX_FORM_BYTES }, (_request, text, done) =>
      done(null, Object.fromEntries(new URLSearchParams(text as string))),
    );
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });

    app.post(
      '/console/sign-out/oidc/back-channel',
      {
        config: { operation: 'consoleBackChannelSignOut' },
        schema: {
          tags,
          summary: 'Back-channel logout',
          description:
            'Called by the identity provider with a form: ends the sessions that its signed token names (OpenID Connect Back-Channel Logout 1.0).',
          consumes: [FORM],
          body: BackChannelBody,
          querystring: NoQuery,
          response: { 200: SignedOut },
        },
      },
      async (request) => {
        if (!provider) throw new AppError('bad_request', 'This server has no identity provider');
        const { issuer, verifyLogoutToken } = provider;
        const token = request.body.logout_token;
        const ended = await attempts
          .run(request.clientAddress, token, async () => {
            const verified = await verifyLogoutToken(token);
            if (!verified) throw new AppError('unauthorized', 'The logout token is not valid');
            return verified;
          })
          .catch(toBadRequest);
        if (!(await sessionLists.endForProvider(issuer, ended)))
          throw new AppError('bad_request', 'The logout token was used before');
        return {};
      },
    );

    app.get(
      '/console/sign-out/oidc/front-channel',
      {
        config: { operation: 'consoleFrontChannelSignOut' },
        schema: {
          tags,
          summary: 'Front-channel logout',
          description:
            'Loaded by a page of the identity provider when its session `sid` has ended (OpenID Connect Front-Channel Logout 1.0). Ends the session of the browser if it is that one; otherwise the provider is asked with the next request of the session.',
          querystring: FrontChannelQuery,
          response: { 200: SignedOut },
        },
      },
      async (request, reply) => {
        if (!provider) return {};
        const { issuer } = provider;
        const { iss, sid } = request.query;
        // In a frame of another site, browsers send no cookies.
        if (iss === issuer && sid) await sessionLists.endOrAskProvider(sid, cookies.find(request.headers));
        reply.header('content-security-policy', `default-src 'none'; frame-ancestors ${new URL(issuer).origin}`);
        reply.removeHeader('x-frame-options');
        return {};
      },
    );
  };
}

/** The specification has 400 for a token that is not valid. */
function toBadRequest(error: unknown): never {
  if (error instanceof AppError && error.code === 'unauthorized') throw new AppError('bad_request', error.message);
  throw error;
}
