import type { FastifyRequest } from 'fastify';
import { AppError, MISSING, rejectViolations } from '../kernel/errors.ts';
import { isoTime } from '../kernel/time/clock.ts';
import { getActor, getOrigin } from '../management/audit/request-actor.ts';
import { KEY_NOT_ACTIVE } from '../management/keys/verification.ts';
import type { Organizations } from '../management/organizations/organizations.ts';
import { hashSecret } from '../platform/credentials/secrets.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { tooManyRequests } from '../platform/http/limits/rate-limit.ts';
import type { RateLimiter } from '../platform/http/limits/rate-window.ts';
import { type App, NoQuery, type Routes } from '../platform/http/requests/validation.ts';
import type { FailedSignIns, FailureReason } from './failed-sign-ins.ts';
import type { Provider } from './oidc/provider.ts';
import { openTokens } from './oidc/sealed-tokens.ts';
import { admit, authenticate, getSecret, getSession, notSignedIn, protectRoutes } from './request-authentication.ts';
import { SessionRecord, SignInBody, SignOutResult } from './schema.ts';
import { MAX_SESSION_MS, newCsrfToken, type Session } from './session.ts';
import type { SessionCookies } from './session-cookie.ts';
import type { SessionCredential } from './session-credential.ts';
import { KEYS_NOT_ALLOWED, type Sessions, type SignInCredentials } from './sessions.ts';

interface Options {
  sessions: Sessions;
  failedSignIns: FailedSignIns;
  organizations: Organizations;
  cookies: SessionCookies;
  /** False if the dashboard interface has a separate port. */
  hasDashboards: boolean;
  attempts: AttemptLimit;
  /** Successful sign-ins, by credential. */
  signIns: RateLimiter | undefined;
  provider: Provider | undefined;
  /** The address of the console for people. */
  publicUrl: string | undefined;
}

const tags = ['Console'];
const security = [{ session: [] }];

/** Sign in, read the session, sign out. */
export function sessionRoutes(options: Options): Routes {
  const { sessions, failedSignIns, organizations, cookies, hasDashboards, attempts, signIns, provider, publicUrl } =
    options;

  async function toRecord(
    { clientAddress }: FastifyRequest,
    secret: string,
    session: Session,
    credential: SessionCredential,
  ) {
    const ids = await sessions.listOrganizationIds(session);
    const listed = await Promise.all(ids.map((organizationId) => organizations.get(organizationId)));
    const { id, name, tier, isPaid } = await organizations.get(credential.organizationId);
    return {
      csrf: newCsrfToken(secret),
      kind: credential.kind,
      organization: { id, name, tier, paid: isPaid },
      credential: { id: credential.id, name: credential.name, roles: [...credential.roleNames] },
      organizations: listed.map((one) => ({ id: one.id, name: one.name })),
      operations: [...credential.operations],
      address: clientAddress,
      access: hasDashboards ? credential.dashboardAccess : 'none',
      expiresAt: isoTime(session.expiresAt),
    };
  }

  /** Throws if the credentials are not valid, or not from this address. */
  async function verify(request: FastifyRequest, credentials: SignInCredentials): Promise<SessionCredential> {
    try {
      const authorization = formatAuthorization(credentials);
      const credential = await authenticate(attempts, request, authorization, () => sessions.verify(credentials));
      admit(request, credential);
      return credential;
    } catch (error) {
      recordFailure(request, credentials, error);
      throw error;
    }
  }

  /** Attempts above the limit for failed attempts (429) are not recorded. */
  function recordFailure(request: FastifyRequest, credentials: SignInCredentials, error: unknown): void {
    const reason = toReason(error, 'token' in credentials);
    if (!reason) return;
    const [kind, text] =
      'token' in credentials ? (['token', credentials.token] as const) : (['key', credentials.keyId] as const);
    failedSignIns.record({ kind, credentialHash: hashSecret(text), reason, origin: getOrigin(request) });
  }

  async function findProviderUrl({ details }: Session, secret: string): Promise<string | undefined> {
    if (!provider || publicUrl === undefined || details.tokens === undefined) return undefined;
    return provider.findSignOutUrl(openTokens(secret, details.tokens).idToken, `${publicUrl}/sign-in`);
  }

  return (app) => {
    protectRoutes(app as App);

    app.post(
      '/console/session',
      {
        config: { operation: 'consoleSignIn' },
        schema: {
          tags,
          summary: 'Sign in',
          description:
            'Exchanges a key or a dashboard token for a session of at most 12 hours. The session cookie cannot be read by scripts.',
          body: SignInBody,
          querystring: NoQuery,
          response: { 200: SessionRecord },
        },
      },
      async (request, reply) => {
        const credentials = parseCredentials(request.body);
        const credential = await verify(request, credentials);
        const status = await signIns?.take(credential.id);
        if (status && !status.isAllowed) throw tooManyRequests(status, 'Too many sign-ins with these credentials');
        const { session, secret } = await sessions.open(getActor(request), credential, cookies.find(request.headers));
        attempts.accept(request.clientAddress, secret);
        reply.header('set-cookie', cookies.format(request.headers, secret, MAX_SESSION_MS / 1000));
        return toRecord(request, secret, session, credential);
      },
    );

    app.get(
      '/console/session',
      {
        config: { operation: 'consoleSessionGet' },
        schema: {
          tags,
          summary: 'Get session',
          description: 'The current session, with a new CSRF token. Earlier tokens of the session stay valid.',
          security,
          querystring: NoQuery,
          response: { 200: SessionRecord },
        },
      },
      async (request) => {
        const { session, credential, secret } = await getSession({ sessions, cookies, attempts }, request);
        return toRecord(request, secret, session, credential);
      },
    );

    app.delete(
      '/console/session',
      {
        config: { operation: 'consoleSignOut' },
        schema: {
          tags,
          summary: 'Sign out',
          description: 'Ends the session on every node. Without a session it is a 401 that deletes the cookie.',
          security,
          querystring: NoQuery,
          response: { 200: SignOutResult },
        },
      },
      async (request, reply) => {
        // Also of a session that has ended.
        reply.header('set-cookie', cookies.formatDeleted(request.headers));
        const secret = getSecret(cookies, request);
        const closed = await authenticate(attempts, request, secret, async () => {
          const session = await sessions.close(secret, getOrigin(request));
          if (!session) throw notSignedIn();
          return session;
        });
        const providerUrl = await findProviderUrl(closed, secret);
        return providerUrl === undefined ? {} : { providerUrl };
      },
    );
  };
}

/** Undefined if the error does not concern the credentials. */
function toReason(error: unknown, isToken: boolean): FailureReason | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'forbidden') return error.message === KEYS_NOT_ALLOWED ? undefined : 'address not allowed';
  if (error.code !== 'unauthorized') return undefined;
  // A token has no id apart from its text, so only an expired one is known.
  return isToken || error.message === KEY_NOT_ACTIVE ? 'not active' : 'secret not valid';
}

function parseCredentials({
  keyId,
  keySecret,
  token,
}: {
  keyId?: string;
  keySecret?: string;
  token?: string;
}): SignInCredentials {
  if (token !== undefined && keyId === undefined && keySecret === undefined) return { token };
  if (token !== undefined)
    throw new AppError('bad_request', 'Sign in with either a key or a token, not both', { field: 'token' });
  const missing = Object.entries({ keyId, keySecret }).filter(([, value]) => value === undefined);
  rejectViolations(missing.map(([name]) => ({ path: name, rule: 'Required', value: MISSING })));
  return { keyId: keyId ?? '', keySecret: keySecret ?? '' };
}

/** The header that sends the same credentials to an API: accepted there means accepted here. */
const formatAuthorization = (credentials: SignInCredentials): string =>
  'token' in credentials
    ? `Bearer ${credentials.token}`
    : `Basic ${Buffer.from(`${credentials.keyId}:${credentials.keySecret}`).toString('base64')}`;
