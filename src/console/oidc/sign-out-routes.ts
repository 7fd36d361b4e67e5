import { AppError } from '../../kernel/errors.ts';
import type { AttemptLimit } from '../../platform/http/limits/attempt-limit.ts';
import { NoQuery, type Routes } from '../../platform/http/requests/validation.ts';
import { BackChannelBody, FrontChannelQuery, SignedOut } from '../schema.ts';
import type { SessionLists } from '../session-lists.ts';
import type { Provider } from './provider.ts';

interface Options {
  provider: Provider | undefined;
  sessionLists: SessionLists;
  attempts: AttemptLimit;
}

const tags = ['Console'];
const MAX_FORM_BYTES = 128 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/** What the identity provider calls when a person signs out there. */
export function providerSignOutRoutes({ provider, sessionLists, attempts }: Options): Routes {
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
        await sessionLists.endForProvider(issuer, ended);
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
            'Loaded by a page of the identity provider: ends its session `sid` (OpenID Connect Front-Channel Logout 1.0).',
          querystring: FrontChannelQuery,
          response: { 200: SignedOut },
        },
      },
      async (request, reply) => {
        if (!provider) return {};
        const { issuer } = provider;
        const { iss, sid } = request.query;
        // The page is in a frame of the provider, which browsers give no cookies, so the session is found by its id there.
        if (iss === issuer && sid) await sessionLists.endForProvider(issuer, { providerSession: sid });
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
