import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { addressBlock } from '../kernel/addresses.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { type MaybePromise, mapMaybe, runWithCallback } from '../kernel/maybe-promise.ts';
import { hasRole, type Role } from '../kernel/roles.ts';
import { createRateLimiter, type RateLimit, type RateLimiter } from './rate-limit.ts';
import { type App, createPathCheck } from './validation.ts';

/** Whoever presented good credentials, and what was true of their organization at that moment. */
export interface Identity {
  organizationId: string;
  /** Of the ledger, so that rendered answers can be kept until it changes. */
  costRevision: number;
  /** Of dashboards and sources, for the same reason. */
  dashboardRevision: number;
  credentialId: string;
  credentialName: string;
  /** For logs: enough to find the credential, not enough to use it. */
  suffix: string;
  roles: readonly Role[];
  /** Undefined: from anywhere. */
  allowsAddress: ((address: string) => boolean) | undefined;
  /** Set for somebody who is signed in to the console: with what. */
  session?: 'key' | 'token';
}

/** Header in, caller out; `unauthorized` for everybody else. */
export type Authenticate = (authorization: string | undefined) => MaybePromise<Identity>;

/** Cookie and proof that the console itself asks; undefined where there is nothing of the kind. */
export type AuthenticateSession = (headers: FastifyRequest['headers']) => Promise<Identity | undefined>;

/** Sent by the console with every request; no other page can make a browser send it here. */
export const CSRF_HEADER = 'x-pilothouse-csrf';
/** For the console. Any scheme that browsers know would make them ask for a password in a window of their own. */
export const SESSION_CHALLENGE = 'Session realm="pilothouse"';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route that has `roles`; use `callerOf` to read it. */
    identity: Identity | undefined;
    clientAddress: string;
    operation: string | undefined;
    /** The template that the path matched; asking the router for it builds an object each time. */
    route: string | undefined;
  }
  interface FastifyContextConfig {
    /** The operation's name in logs, metrics and OpenAPI. */
    operation?: string;
    /** Any of these roles may call it; `[]` admits every caller with good credentials. Left out: open to everybody. */
    roles?: readonly Role[];
  }
}

export interface GuardOptions {
  authenticate: Authenticate;
  /** Only asked when there is no Authorization header. */
  authenticateSession?: AuthenticateSession;
  challenge: string;
  rate: RateLimit | undefined;
  /** By address; one count for all interfaces. */
  failedAttempts: RateLimiter;
  clock: Clock;
  clientAddress(request: FastifyRequest): string;
  /** The sentence for good credentials that lack the role. */
  formatMissingRole?(roles: readonly Role[], caller: Identity): string;
}

/** Past this a further failure is a 429; good credentials from the same address keep working. */
export const FAILED_ATTEMPTS: RateLimit = { requests: 300, windowSeconds: 60 };

/** The order in which a request is judged before its query and body are looked at (decision B8). */
export function guardRoutes(
  app: App,
  {
    authenticate,
    authenticateSession,
    challenge,
    rate,
    failedAttempts,
    clock,
    clientAddress,
    formatMissingRole: roleRefusal = formatMissingKeyRole,
  }: GuardOptions,
): void {
  const limiter = rate && createRateLimiter(rate, clock);
  const policy = rate && `${rate.requests};w=${rate.windowSeconds}`;

  // A hook for each route, made when the route is: what is known by then need not be looked up for every request.
  app.addHook('onRoute', (route) => {
    const { roles, operation } = route.config ?? {};
    if (!roles) return;
    const checkPath = createPathCheck(route.schema?.params as TSchema | undefined);
    const authorize = (request: FastifyRequest, reply: FastifyReply, caller: Identity): void => {
      request.identity = caller;
      const taken = limiter?.take(caller.credentialId);
      if (taken && rate && policy) setRateLimitHeaders(reply, rate, policy, taken);
      checkAddress(caller, request.clientAddress);
      if (taken && !taken.isAllowed) throw tooManyRequests(taken, 'Too many requests with this key');
      checkPath(request.params);
      checkOrganization(request, caller);
      if (roles.length > 0 && !hasRole(caller.roles, roles))
        throw new AppError('forbidden', roleRefusal(roles, caller));
    };
    route.onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      request.operation = operation;
      request.route = route.url;
      runWithCallback(done, () => mapMaybe(identify(request), (caller) => authorize(request, reply, caller)));
    };
  });

  decorateRequests(app, clientAddress);

  function identify(request: FastifyRequest): MaybePromise<Identity> {
    const refuse = (error: unknown): never => {
      throw toAuthenticationError(error, request, failedAttempts, challengeFor(request.headers));
    };
    try {
      const caller = authenticateHeaders(request.headers);
      return caller instanceof Promise ? caller.catch(refuse) : caller;
    } catch (error) {
      return refuse(error);
    }
  }

  function authenticateHeaders(headers: FastifyRequest['headers']): MaybePromise<Identity> {
    const { authorization } = headers;
    if (authorization !== undefined || !authenticateSession) return authenticate(authorization);
    return authenticateSession(headers).then((caller) => caller ?? authenticate(undefined));
  }

  const challengeFor = (headers: FastifyRequest['headers']) =>
    authenticateSession && headers.authorization === undefined && headers[CSRF_HEADER] !== undefined
      ? SESSION_CHALLENGE
      : challenge;
}

/** Gives the requests of these routes a caller and an address. */
export function decorateRequests(app: App, clientAddress: GuardOptions['clientAddress']): void {
  app.decorateRequest('identity', undefined);
  app.decorateRequest('clientAddress', {
    getter() {
      return clientAddress(this as FastifyRequest);
    },
  });
}

/** What somebody with bad credentials is told; counts the attempt. Other errors pass as they are. */
export function toAuthenticationError(
  error: unknown,
  request: FastifyRequest,
  failedAttempts: RateLimiter,
  challenge: string,
): unknown {
  if (!(error instanceof AppError) || error.code !== 'unauthorized') return error;
  const taken = failedAttempts.take(addressBlock(request.clientAddress));
  if (!taken.isAllowed) return tooManyRequests(taken, 'Too many failed attempts from this address');
  return new AppError('unauthorized', error.message, {
    cause: error.cause,
    headers: { ...error.headers, 'www-authenticate': challenge },
  });
}

export function checkAddress({ allowsAddress: allows }: Pick<Identity, 'allowsAddress'>, address: string): void {
  if (allows && !allows(address)) throw new AppError('forbidden', `This key may not be used from ${address}`);
}

/** The caller of a guarded route. */
export function getIdentity(request: FastifyRequest): Identity {
  if (!request.identity)
    throw new Error(`${request.routeOptions.url} has no roles in its configuration, so nobody was identified`);
  return request.identity;
}

function setRateLimitHeaders(
  reply: FastifyReply,
  rate: RateLimit,
  policy: string,
  taken: ReturnType<RateLimiter['take']>,
): void {
  reply.header('x-ratelimit-limit', rate.requests);
  reply.header('x-ratelimit-remaining', taken.remaining);
  reply.header('x-ratelimit-reset', taken.resetSeconds);
  reply.header('x-ratelimit-policy', policy);
}

export function tooManyRequests({ resetSeconds }: { resetSeconds: number }, text: string): AppError {
  return new AppError('too_many_requests', `${text}; try again in ${resetSeconds} s`, {
    retryAfterSeconds: resetSeconds,
  });
}

/** Another organization is answered exactly like one that does not exist. */
function checkOrganization(request: FastifyRequest, caller: Identity): void {
  const params = request.params as { organizationId?: string };
  if (params.organizationId === undefined || params.organizationId === caller.organizationId) return;
  const wanted = params.organizationId.toLowerCase();
  if (wanted !== caller.organizationId) throw new AppError('not_found', `organization ${wanted} does not exist`);
}

/** The sentence for a key that lacks the role. */
export const formatMissingKeyRole = (roles: readonly Role[], caller: Identity): string =>
  `This operation needs the role ${roles.join(' or ')}; the key has ${caller.roles.join(', ')}`;
