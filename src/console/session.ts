import { createHmac, randomBytes } from 'node:crypto';
import { hashOf, isSameHash } from '../credentials/secrets.ts';
import { MINUTE_MS } from '../kernel/clock.ts';
import type { TokenAccess } from '../tokens/token.ts';

export const SESSION_KINDS = ['key', 'token'] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

/** After this somebody has to sign in again, whatever they did in between. */
export const LONGEST_MS = 12 * 60 * MINUTE_MS;
/** After this long without a request, to the minute. */
export const IDLE_MS = 2 * 60 * MINUTE_MS;

/** Somebody signed in to the console. It names a credential and holds nothing of what that may do. */
export interface Session {
  /** Of the secret in the browser's cookie. */
  hash: string;
  organizationId: string;
  kind: SessionKind;
  credentialId: string;
  /** Of the secret that was shown when signing in; empty for a token, which is its own. */
  secretHash: string;
  createdAt: number;
  seenAt: number;
  expiresAt: number;
}

export const isAlive = ({ seenAt, expiresAt }: Session, now: number): boolean =>
  now < expiresAt && now < seenAt + IDLE_MS;

const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** What the cookie holds: 256 random bits. */
export const newSessionSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

export const sessionHashOf = (secret: string): string => hashOf(secret);

/** Could this be one at all? Everything else need not be looked up. */
export const isSessionSecret = (text: string): boolean => SECRET.test(text);

/**
 * Proof that a request comes from a page that was given it, not just from a browser that has the cookie. It is made
 * from the cookie's secret: every tab may have its own, and all of them end with the session.
 */
export function newCsrf(secret: string): string {
  const nonce = randomBytes(16).toString('base64url');
  return `${nonce}.${proofOf(secret, nonce)}`;
}

export function isCsrf(secret: string, text: string): boolean {
  const [nonce = '', proof = ''] = text.split('.');
  return isSameHash(Buffer.from(proof), Buffer.from(proofOf(secret, nonce)));
}

const proofOf = (secret: string, nonce: string): string =>
  createHmac('sha256', secret).update(`csrf ${nonce}`).digest('base64url');

export const ACCESSES = ['read', 'write', 'none'] as const;
/** What somebody may do with dashboards. */
export type DashboardAccess = TokenAccess | 'none';

/** What the roles of a key are worth among dashboards. */
export function accessWith(roles: readonly string[]): DashboardAccess {
  if (roles.includes('admin')) return 'write';
  return roles.includes('developer') ? 'read' : 'none';
}
