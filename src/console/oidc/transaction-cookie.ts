import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Transaction } from './provider.ts';

/** What the browser keeps while the person is at the identity provider. */
export interface PendingSignIn extends Transaction {
  returnTo: string;
  /** The hash of the session that the new one replaces; empty without one. */
  previous: string;
}

const MAX_AGE_SECONDS = 600;
const MAX_COOKIE_BYTES = 4000;

/**
 * One cookie for each sign-in that was started, so that two tabs do not disturb each other. It has to be sent when the
 * provider sends the browser back, so it is not `SameSite=Strict` as that of a session. It grants no access.
 */
export function createTransactionCookies(name: string, { isSecure, path }: { isSecure: boolean; path: string }) {
  const formatName = (state: string): string =>
    `${isSecure ? '__Secure-' : ''}${name}_${hash('sha256', state, 'hex').slice(0, 16)}`;
  const flags = ['HttpOnly', 'SameSite=Lax', ...(isSecure ? ['Secure'] : [])];
  const formatCookie = (state: string, value: string, maxAge: number): string =>
    [`${formatName(state)}=${value}`, `Path=${path}`, `Max-Age=${maxAge}`, ...flags].join('; ');

  return {
    format(pending: PendingSignIn): string {
      const encode = (returnTo: string) => Buffer.from(JSON.stringify({ ...pending, returnTo })).toString('base64url');
      const value = encode(pending.returnTo);
      // Browsers drop larger cookies, and with it the sign-in.
      return formatCookie(pending.state, value.length > MAX_COOKIE_BYTES ? encode('/') : value, MAX_AGE_SECONDS);
    },

    formatDeleted: (state: string): string => formatCookie(state, '', 0),

    /** Undefined if this browser started no sign-in with this state, or too long ago. */
    find(headers: IncomingHttpHeaders, state: string): PendingSignIn | undefined {
      const prefix = `${formatName(state)}=`;
      const part = headers.cookie
        ?.split(';')
        .map((text) => text.trim())
        .find((text) => text.startsWith(prefix));
      return part === undefined ? undefined : parsePending(part.slice(prefix.length), state);
    },
  };
}

function parsePending(text: string, state: string): PendingSignIn | undefined {
  try {
    const pending = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const texts = [pending.state, pending.nonce, pending.verifier, pending.returnTo, pending.previous];
    const isValid = texts.every((one) => typeof one === 'string') && pending.state === state;
    return isValid ? { ...pending, isFresh: pending.isFresh === true } : undefined;
  } catch {
    return undefined;
  }
}

/** The path of a page of this console; `/` for anything else, such as another site. */
export function toLocalPath(text: string | undefined): string {
  if (text === undefined || !/^\/(?![/\\])/.test(text) || !URL.canParse(text, 'http://console.invalid')) return '/';
  const { host, pathname, search, hash: fragment } = new URL(text, 'http://console.invalid');
  return host === 'console.invalid' && !pathname.startsWith('//') ? `${pathname}${search}${fragment}` : '/';
}
