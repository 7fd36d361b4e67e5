import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { SESSION_CHALLENGE } from '../../kernel/access/challenges.ts';
import type { Grants } from '../../kernel/access/grants.ts';
import { listNeeds } from '../../kernel/access/hand-outs.ts';
import { hasRole, type Role } from '../../kernel/access/roles.ts';
import { isEverything, type ServiceSet } from '../../kernel/access/service-set.ts';
import { AppError } from '../../kernel/errors.ts';
import type { RateCounter } from '../../kernel/rate-counter.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { AttemptLimit } from './limits/attempt-limit.ts';
import { createRateLimiter, tooManyRequests } from './limits/rate-limit.ts';
import type { RateLimit, RateLimitStatus } from './limits/rate-window.ts';
import type {} from './refusals.ts';
import { CSRF_HEADER, rejectCrossSite } from './requests/cross-site.ts';
import { type App, createPathCheck } from './requests/validation.ts';

/**
 * Revisions of an organization's data, read together with the credential, so that cached responses need no query of
 * their own. The domains declare the members; the HTTP layer only passes them on.
 */
export interface Revisions {
  readonly [data: string]: number;
}

/** The authenticated key, token or session of a request. */
export interface Identity {
  organizationId: string;
  revisions: Readonly<Revisions>;
  credentialId: string;
  credentialName: string;
  /** For logs: identifies the credential without being usable. */
  suffix: string;
  roles: readonly Role[];
  /** What all roles together allow. Undefined if the key has system roles only, which then decide alone. */
  grants?: Grants;
  /** The IP access list; undefined if all addresses are allowed. */
  allowsAddress: ((address: string) => boolean) | undefined;
  /** Set for a console session: the kind of credential used to sign in. */
  session?: 'member' | 'key' | 'token';
  /** Set if the person of the session has to sign in again before some changes. */
  needsFreshSignIn?: true;
  /** Set for a command that opened the store itself: it has no credential and no address. */
  isLocal?: true;
}

/** Authenticates an Authorization header. Throws `unauthorized`. */
export type Authenticate = (authorization: string | undefined) => Promise<Identity>;

export interface SessionAuthentication {
  /** The secret in the session cookie. */
  findSecret(headers: FastifyRequest['headers']): string | undefined;
  /** Authenticates the session cookie and the CSRF header; undefined if they are missing. */
  authenticate(headers: FastifyRequest['headers']): Promise<Identity | undefined>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes with `roles`; read it with `getIdentity`. */
    identity: Identity | undefined;
    clientAddress: string;
    operation: string | undefined;
    /** The route template. Cached, because reading it from the router creates an object each time. */
    route: string | undefined;
  }
  interface FastifyContextConfig {
    /** The operation's name in logs, metrics and OpenAPI. */
    operation?: string;
    /** One of these roles is required; `[]` admits every authenticated identity. If omitted, the route is public. */
    roles?: readonly Role[];
    /** The handler decides which sites may send the request; otherwise none may. */
    checksOrigin?: boolean;
    /** The error format, if it is not that of the interface. */
    renderFailure?(request: FastifyRequest, error: AppError): { type: string; body: Buffer };
  }
}

export interface GuardOptions {
  authenticate: Authenticate;
  /** Used only if there is no Authorization header. */
  session?: SessionAuthentication;
  challenge: string;
  rate: RateLimit | undefined;
  /** Counts requests for several processes. */
  counter?: RateCounter | undefined;
  /** Shared by all interfaces. */
  attempts: AttemptLimit;
  clock: Pick<Clock, 'monotonicMs'>;
  clientAddress(request: FastifyRequest): string;
  /** The error message for an identity without a required role. */
  formatMissingRole?(roles: readonly Role[], identity: Identity): string;
}

/** Checks a request in the order of decision B8, before its query and body are validated. */
export function guardRoutes(
  app: App,
  {
    authenticate,
    session,
    challenge,
    rate,
    counter,
    attempts,
    clock,
    clientAddress,
    formatMissingRole = formatMissingKeyRole,
  }: GuardOptions,
): void {
  const limiter = rate && createRateLimiter(rate, clock, counter);
  const policy = rate && `${rate.requests};w=${rate.windowSeconds}`;

  // One hook per route, created with the route, so that its configuration is not looked up on every request.
  app.addHook('onRoute', (route) => {
    const { roles, operation, checksOrigin } = route.config ?? {};
    if (!roles) return;
    const checkPath = createPathCheck(route.schema?.params as TSchema | undefined);
    route.onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
      request.operation = operation;
      request.route = route.url;
      if (!checksOrigin) rejectCrossSite(request);
      const identity = await identify(request);
      request.identity = identity;
      const isAllowed = identity.allowsAddress?.(request.clientAddress) ?? true;
      // A request from an address outside the IP access list does not use up the limit of the key.
      const status = isAllowed ? await limiter?.take(identity.credentialId) : limiter?.peek(identity.credentialId);
      if (status && rate && policy) setRateLimitHeaders(reply, rate, policy, status);
      if (!isAllowed) throw rejectedAddress(request.clientAddress);
      if (status && !status.isAllowed) throw tooManyRequests(status, 'Too many requests with these credentials');
      checkPath(request.params);
      checkOrganization(request, identity);
      checkRoles(request, identity, roles, operation);
    };
  });

  decorateRequests(app, clientAddress);

  /** The only place that decides whether roles permit an operation. System roles alone need no lookup. */
  function checkRoles(request: FastifyRequest, identity: Identity, roles: readonly Role[], operation = ''): void {
    if (identity.grants) checkGrants(identity.grants, operation, request.params as ServiceParams);
    else if (roles.length > 0 && !hasRole(identity.roles, roles))
      throw new AppError('forbidden', formatMissingRole(roles, identity));
  }

  async function identify(request: FastifyRequest): Promise<Identity> {
    const { headers, clientAddress } = request;
    const credential = headers.authorization ?? session?.findSecret(headers) ?? '';
    try {
      return await attempts.run(clientAddress, credential, () => authenticateHeaders(headers));
    } catch (error) {
      if (error instanceof AppError) request.refused = error.refused;
      throw withChallenge(error, challengeFor(headers));
    }
  }

  const authenticateHeaders = createHeaderAuthentication({ authenticate, session });

  const challengeFor = (headers: FastifyRequest['headers']) =>
    session && headers.authorization === undefined && headers[CSRF_HEADER] !== undefined
      ? SESSION_CHALLENGE
      : challenge;
}

function createHeaderAuthentication({ authenticate, session }: Pick<GuardOptions, 'authenticate' | 'session'>) {
  return async (headers: FastifyRequest['headers']): Promise<Identity> => {
    const { authorization } = headers;
    if (authorization !== undefined || !session) return authenticate(authorization);
    return (await session.authenticate(headers)) ?? authenticate(undefined);
  };
}

/** For responses that take long: whether the request would still be admitted by its credentials and roles. */
export function createAuthorizationCheck(options: Pick<GuardOptions, 'authenticate' | 'session'>) {
  const authenticateHeaders = createHeaderAuthentication(options);
  return async (request: FastifyRequest): Promise<boolean> => {
    const { roles = [], operation = '' } = request.routeOptions.config;
    try {
      const { organizationId, grants, ...identity } = await authenticateHeaders(request.headers);
      if (organizationId !== request.identity?.organizationId) return false;
      return grants ? grants.permits(operation, undefined) : hasRole(identity.roles, roles);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthorized') return false;
      throw error;
    }
  };
}

/** Adds `identity` and `clientAddress` to the requests of these routes. */
export function decorateRequests(app: App, clientAddress: GuardOptions['clientAddress']): void {
  app.decorateRequest('identity', undefined);
  app.decorateRequest('refused', undefined);
  app.decorateRequest('clientAddress', {
    getter() {
      return clientAddress(this as FastifyRequest);
    },
  });
}

/** Adds the challenge to an `unauthorized` error. Other errors are returned unchanged. */
export function withChallenge(error: unknown, challenge: string): unknown {
  if (!(error instanceof AppError) || error.code !== 'unauthorized') return error;
  return new AppError('unauthorized', error.message, {
    cause: error.cause,
    headers: { ...error.headers, 'www-authenticate': challenge },
  });
}

export function checkAddress({ allowsAddress }: Pick<Identity, 'allowsAddress'>, address: string): void {
  if (allowsAddress && !allowsAddress(address)) throw rejectedAddress(address);
}

const rejectedAddress = (address: string): AppError =>
  new AppError('forbidden', `This key may not be used from ${address}`);

/** The identity of a request on a route with `roles`. */
export function getIdentity(request: FastifyRequest): Identity {
  if (!request.identity)
    throw new Error(`${request.routeOptions.url} has no roles in its configuration, so its requests have no identity`);
  return request.identity;
}

function setRateLimitHeaders(reply: FastifyReply, rate: RateLimit, policy: string, status: RateLimitStatus): void {
  reply.header('x-ratelimit-limit', rate.requests);
  reply.header('x-ratelimit-remaining', status.remaining);
  reply.header('x-ratelimit-reset', status.resetSeconds);
  reply.header('x-ratelimit-policy', policy);
}

/** Another organization gets the same response as one that does not exist. */
function checkOrganization(request: FastifyRequest, identity: Identity): void {
  const params = request.params as { organizationId?: string };
  if (params.organizationId === undefined || params.organizationId === identity.organizationId) return;
  const requestedId = params.organizationId.toLowerCase();
  if (requestedId !== identity.organizationId)
    throw new AppError('not_found', `organization ${requestedId} does not exist`);
}

interface ServiceParams {
  serviceId?: string;
}

/** For a key with custom roles. Without a service in the path, the handler limits its result to the permitted services. */
function checkGrants(grants: Grants, operation: string, { serviceId }: ServiceParams): void {
  const missing = listNeeds(operation).find((needed) => !grants.permits(needed, serviceId?.toLowerCase()));
  if (missing === undefined) return;
  const resource = serviceId === undefined ? '' : ` on the service ${serviceId.toLowerCase()}`;
  throw new AppError('forbidden', `This operation needs a role that allows ${missing}${resource}`);
}

/** Whether a request may also use another operation, which decides what its response shows. */
export function canUse(request: FastifyRequest, operation: string, roles: readonly Role[]): boolean {
  const identity = getIdentity(request);
  return identity.grants?.permits(operation, undefined) ?? hasRole(identity.roles, roles);
}

/** The services that the operation of a request may return; undefined for all. */
export function getPermittedServices(request: FastifyRequest): ServiceSet | undefined {
  const services = getIdentity(request).grants?.getServices(request.operation ?? '');
  return services && !isEverything(services) ? services : undefined;
}

/** The error message for a key without a required role. */
export const formatMissingKeyRole = (roles: readonly Role[], identity: Identity): string =>
  `This operation needs the role ${roles.join(' or ')}; the key has ${identity.roles.join(', ')}`;
