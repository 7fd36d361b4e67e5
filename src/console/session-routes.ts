import type { FastifyRequest } from 'fastify';
import type { BasePath } from '../http/base-path.ts';
import { checkAddress, SESSION_CHALLENGE, toAuthenticationError, tooManyRequests } from '../http/guard.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import { NoQuery, type Routes } from '../http/validation.ts';
import { isoTime } from '../kernel/clock.ts';
import { AppError, MISSING, rejectViolations } from '../kernel/errors.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { callerAs, SESSION_COOKIE, sessionSecretIn } from './authentication.ts';
import { SessionRecord, SignedOut, SignInBody } from './schema.ts';
import { LONGEST_MS, newCsrf, type Session } from './session.ts';
import type { Credentials, Holder, Sessions } from './sessions.ts';

interface Options {
  sessions: Sessions;
  organizations: Organizations;
  basePath: BasePath;
  /** Not where they have a port of their own. */
  hasDashboards: boolean;
  failedAttempts: RateLimiter;
  /** By credential, for those whose credentials are good. */
  signIns: RateLimiter | undefined;
}

const tags = ['Console'];
const security = [{ session: [] }];

/** Signing in, looking who is signed in, signing out. */
export function sessionRoutes(options: Options): Routes {
  const { sessions, organizations, basePath, hasDashboards, failedAttempts, signIns } = options;

  const refusal = (error: unknown, request: FastifyRequest) =>
    toAuthenticationError(error, request, failedAttempts, SESSION_CHALLENGE);

  async function record({ clientAddress }: FastifyRequest, secret: string, { expiresAt }: Session, holder: Holder) {
    const { id, name, tier, isPaid } = await organizations.get(holder.organizationId);
    return {
      csrf: newCsrf(secret),
      kind: holder.kind,
      organization: { id, name, tier, paid: isPaid },
      credential: { id: holder.id, name: holder.name, roles: [...holder.roles] },
      address: clientAddress,
      access: hasDashboards ? holder.access : 'none',
      expiresAt: isoTime(expiresAt),
    };
  }

  /** Whoever is let in, from where they are. */
  function admit(request: FastifyRequest, holder: Holder): void {
    request.identity = callerAs(holder, 'management');
    checkAddress(request.identity, request.clientAddress);
  }

  return (app) => {
    app.addHook('onRequest', async (request, reply) => {
      reply.header('cache-control', 'no-store');
      refuseOtherSites(request);
    });

    app.post(
      '/console/session',
      {
        config: { operation: 'consoleSignIn' },
        schema: {
          tags,
          summary: 'Sign in',
          description:
            'Exchanges a key or a dashboard token for a session of at most twelve hours, in a cookie that scripts cannot read.',
          body: SignInBody,
          querystring: NoQuery,
          response: { 200: SessionRecord },
        },
      },
      async (request, reply) => {
        const credentials = credentialsIn(request.body);
        const holder = await sessions.identify(credentials).catch((error: unknown) => {
          throw refusal(error, request);
        });
        admit(request, holder);
        const taken = signIns?.take(holder.id);
        if (taken && !taken.isAllowed) throw tooManyRequests(taken, 'Too many sign-ins with these credentials');
        const { session, secret } = await sessions.open(holder, sessionSecretIn(request.headers.cookie));
        reply.header('set-cookie', cookieOf(request, basePath, secret, LONGEST_MS / 1000));
        return record(request, secret, session, holder);
      },
    );

    app.get(
      '/console/session',
      {
        config: { operation: 'consoleSessionGet' },
        schema: {
          tags,
          summary: 'Get session',
          description: 'Who is signed in, with a fresh csrf token; those given before stay good.',
          security,
          querystring: NoQuery,
          response: { 200: SessionRecord },
        },
      },
      async (request) => {
        const secret = sessionSecretIn(request.headers.cookie);
        // Whoever never signed in has not failed to, and is not counted as if they had.
        if (secret === undefined) throw nobody({ 'www-authenticate': SESSION_CHALLENGE });
        try {
          const found = await sessions.recall(secret);
          if (!found) throw nobody();
          admit(request, found.holder);
          return await record(request, secret, found.session, found.holder);
        } catch (error) {
          throw refusal(error, request);
        }
      },
    );

    app.delete(
      '/console/session',
      {
        config: { operation: 'consoleSignOut' },
        schema: {
          tags,
          summary: 'Sign out',
          description: 'Ends the session on every node; without one, nothing happens.',
          security,
          querystring: NoQuery,
          response: { 200: SignedOut },
        },
      },
      async (request, reply) => {
        const secret = sessionSecretIn(request.headers.cookie);
        if (secret !== undefined) await sessions.close(secret);
        reply.header('set-cookie', cookieOf(request, basePath, '', 0));
        return {};
      },
    );
  };
}

const nobody = (headers = {}): AppError => new AppError('unauthorized', 'Nobody is signed in', { headers });

function credentialsIn({
  keyId,
  keySecret,
  token,
}: {
  keyId?: string;
  keySecret?: string;
  token?: string;
}): Credentials {
  if (token !== undefined && keyId === undefined && keySecret === undefined) return { token };
  if (token !== undefined)
    throw new AppError('bad_request', 'Sign in with a key or with a token, not with both', { field: 'token' });
  const missing = Object.entries({ keyId, keySecret }).filter(([, value]) => value === undefined);
  rejectViolations(missing.map(([name]) => ({ path: name, rule: 'Required', value: MISSING })));
  return { keyId: keyId ?? '', keySecret: keySecret ?? '' };
}

/** Browsers say which site asks; where they do, it must be this one. */
function refuseOtherSites(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new AppError('forbidden', 'The console is for its own pages only');
}

function cookieOf(request: FastifyRequest, basePath: BasePath, value: string, maxAgeSeconds: number): string {
  const parts = [
    `${SESSION_COOKIE}=${value}`,
    `Path=${basePath}/`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Strict',
  ];
  if (cameOverHttps(request)) parts.push('Secure');
  return parts.join('; ');
}

/** As the proxy or the browser itself says. Whoever lies about it only makes their own cookie stricter. */
function cameOverHttps({ headers }: FastifyRequest): boolean {
  const forwarded = [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',', 1)[0]?.trim().toLowerCase();
  return forwarded === 'https' || /^https:\/\//i.test(headers.origin ?? '');
}
