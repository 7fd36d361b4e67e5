import { MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Setting } from './setting.ts';
import { INVALID, nonEmpty, oneOfTwo } from './setting-parsers.ts';

const MAX_REFRESH_MS = 60 * MINUTE_MS;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** How people sign in to the console. */
export const SIGN_IN_SETTINGS = {
  oidcIssuer: {
    flag: '--oidc-issuer',
    argument: '<url>',
    variable: 'PILOTHOUSE_OIDC_ISSUER',
    help: 'OpenID Connect provider that people sign in with; its configuration is at <url>/.well-known/openid-configuration',
    parse: parseIssuer,
    rule: 'must look like https://id.example.com/realms/acme; http is accepted for this machine only',
  },
  oidcClientId: {
    flag: '--oidc-client-id',
    argument: '<id>',
    variable: 'PILOTHOUSE_OIDC_CLIENT_ID',
    help: 'The id of this server at the provider',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  oidcClientSecret: {
    flag: '--oidc-client-secret',
    argument: '<secret>',
    variable: 'PILOTHOUSE_OIDC_CLIENT_SECRET',
    help: 'The secret of this server at the provider; none for a public client',
    isSecret: true,
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  oidcScopes: {
    flag: '--oidc-scopes',
    argument: '<scopes>',
    variable: 'PILOTHOUSE_OIDC_SCOPES',
    help: 'Scopes to request, separated by spaces; some providers need groups and offline_access',
    fallback: 'openid profile email',
    parse: (text: string): string | typeof INVALID =>
      /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) && text.split(' ').includes('openid')
        ? text
        : INVALID,
    rule: 'must be names separated by spaces, with openid among them',
  },
  oidcRefreshMs: {
    flag: '--oidc-refresh',
    argument: '<time>',
    variable: 'PILOTHOUSE_OIDC_REFRESH',
    help: 'How often to ask the provider about a signed-in person, such as 10s or 5m; removal from a group takes effect within this time',
    fallback: '5m',
    parse: parseRefresh,
    rule: 'must be from 10s to 60m',
  },
  consoleKeySignIn: {
    flag: '--console-key-sign-in',
    argument: '<on|off>',
    variable: 'PILOTHOUSE_CONSOLE_KEY_SIGN_IN',
    help: 'Whether the console accepts keys and dashboard tokens',
    fallback: 'on',
    parse: oneOfTwo('on', 'off'),
    rule: 'must be on or off',
  },
} as const satisfies Record<string, Setting>;

function parseIssuer(text: string): string | typeof INVALID {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.search + url.hash + url.username + url.password !== '') return INVALID;
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  // Providers compare it as text.
  return isAllowed ? text : INVALID;
}

function parseRefresh(text: string): number | typeof INVALID {
  const [, number, unit] = /^([1-9]\d{0,3})(s|m)$/.exec(text) ?? [];
  const ms = Number(number) * (unit === 'm' ? MINUTE_MS : SECOND_MS);
  return ms >= 10 * SECOND_MS && ms <= MAX_REFRESH_MS ? ms : INVALID;
}
