import { AppError } from '../kernel/errors.ts';
import { isoTime } from '../kernel/time/clock.ts';
import { getOrigin } from '../management/audit/request-actor.ts';
import type { Admission } from '../management/members/admission.ts';
import type { Organizations } from '../management/organizations/organizations.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { type App, NoQuery, type Routes } from '../platform/http/requests/validation.ts';
import { authenticate, protectRoutes } from './request-authentication.ts';
import { InvitationBody, OpenInvitation, SignedOut } from './schema.ts';
import { MAX_SESSION_MS } from './session.ts';
import type { SessionCookies } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';

interface Options {
  admission: Admission;
  sessions: Sessions;
  organizations: Organizations;
  cookies: SessionCookies;
  attempts: AttemptLimit;
  hasProvider: boolean;
}

const tags = ['Console'];

/** The page of an invitation. Its secret is after the `#` of the link, which browsers send to no server. */
export function invitationPageRoutes(options: Options): Routes {
  const { admission, sessions, organizations, cookies, attempts, hasProvider } = options;
  return (app) => {
    protectRoutes(app as App);

    app.post(
      '/console/invitation',
      {
        config: { operation: 'consoleInvitationGet' },
        schema: {
          tags,
          summary: 'Get the invitation of a link',
          description: 'For the page of the invitation. A link that was used or deleted, or has expired, is a 401.',
          body: InvitationBody,
          querystring: NoQuery,
          response: { 200: OpenInvitation },
        },
      },
      async (request) => {
        const { secret } = request.body;
        const { email, organizationId, expireAt } = await authenticate(attempts, request, secret, () =>
          admission.getInvitation(secret),
        );
        const { name } = await organizations.get(organizationId);
        return { email, organizationName: name, expireAt: isoTime(expireAt), needsProvider: hasProvider };
      },
    );

    app.post(
      '/console/invitation/accept',
      {
        config: { operation: 'consoleInvitationAccept' },
        schema: {
          tags,
          summary: 'Accept an invitation',
          description:
            'Joins the organization and signs in. The link works once. With an identity provider, sign in there instead (409). Also 409 if the roles of the member have changed since the invitation was made.',
          body: InvitationBody,
          querystring: NoQuery,
          response: { 200: SignedOut },
        },
      },
      async (request, reply) => {
        const { secret } = request.body;
        if (hasProvider)
          throw new AppError('conflict', 'Sign in with the identity provider at /console/sign-in/oidc to join');
        const origin = getOrigin(request);
        const { user, invitation } = await authenticate(attempts, request, secret, () =>
          admission.accept(secret, origin),
        );
        const { organizationId, invitedBy } = invitation;
        const opened = await sessions.openForMember(user, organizationId, origin, { invitedBy });
        attempts.accept(request.clientAddress, opened.secret);
        reply.header('set-cookie', cookies.format(request.headers, opened.secret, MAX_SESSION_MS / 1000));
        return {};
      },
    );
  };
}
