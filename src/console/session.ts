import { createHmac, randomBytes } from 'node:crypto';
import { deriveUuid } from '../kernel/ids.ts';
import { MINUTE_MS } from '../kernel/time/clock.ts';
import { isExpired } from '../platform/credentials/expiry.ts';
import { isSameHash } from '../platform/credentials/secrets.ts';

export const SESSION_KINDS = ['member', 'key', 'token'] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

/** A session ends after this time, used or not. */
export const MAX_SESSION_MS = 12 * 60 * MINUTE_MS;
/** A session ends after this time without a request, to the minute. */
const MAX_IDLE_MS = 2 * 60 * MINUTE_MS;
/** Some changes need a sign-in within this time. */
const FRESH_MS = 10 * MINUTE_MS;
/** Clocks of nodes differ by less, and a larger step back ends the session. */
const MAX_CLOCK_STEP_MS = 60 * MINUTE_MS;

/** A console session. It refers to a member, key or token and stores none of its permissions. */
export interface Session {
  /** Hash of the secret in the cookie. */
  hash: string;
  organizationId: string;
  kind: SessionKind;
  credentialId: string;
  /** Hash of the key secret used to sign in; empty for a member or a token. */
  secretHash: string;
  createdAt: number;
  seenAt: number;
  expiresAt: number;
  /** The id of the session at the identity provider; empty without one. */
  providerSession: string;
  /** When the person proved to the identity provider who they are; 0 if it does not say. */
  authenticatedAt: number;
  /** When the identity provider was asked last. */
  refreshedAt: number;
  details: SessionDetails;
}

interface SessionDetails {
  /** Where the session was opened. */
  address?: string | undefined;
  userAgent?: string | undefined;
  /** The tokens of the identity provider, encrypted with the secret of the session. */
  tokens?: string | undefined;
}

/** Identifies a session in lists. The hash of its secret is shown nowhere. */
export const getSessionId = ({ hash }: Pick<Session, 'hash'>): string => deriveUuid('session', hash);

/** Whether the person has to sign in again before a change that needs it. Without an identity provider there is no such way. */
export const needsFreshSignIn = ({ details, authenticatedAt }: Session, now: number): boolean =>
  details.tokens !== undefined && !isFreshSignIn(authenticatedAt, now);

export const isFreshSignIn = (authenticatedAt: number, now: number): boolean =>
  !isExpired(authenticatedAt + FRESH_MS, now);

/** Setting the clock back must not extend a session, so one from the future has ended. */
export const isAlive = ({ createdAt, seenAt, expiresAt }: Session, now: number): boolean =>
  createdAt <= now + MAX_CLOCK_STEP_MS && !isExpired(expiresAt, now) && !isExpired(seenAt + MAX_IDLE_MS, now);

/**
 * Proves that a request comes from a console page, not just from a browser that has the cookie. Derived from the
 * session secret: each tab may have a different one, and all of them end with the session.
 */
export function newCsrfToken(secret: string): string {
  const nonce = randomBytes(16).toString('base64url');
  return `${nonce}.${signNonce(secret, nonce)}`;
}

export function isCsrfToken(secret: string, text: string): boolean {
  const [nonce = '', signature = ''] = text.split('.');
  return isSameHash(Buffer.from(signature), Buffer.from(signNonce(secret, nonce)));
}

const signNonce = (secret: string, nonce: string): string =>
  createHmac('sha256', secret).update(`csrf ${nonce}`).digest('base64url');
