import type { Setting } from './setting.ts';
import { nonEmpty, wholeNumber } from './setting-parsers.ts';

/** HTTPS without a proxy in front. */
export const TLS_SETTINGS = {
  tlsCertFile: {
    flag: '--tls-cert',
    argument: '<file>',
    variable: 'PILOTHOUSE_TLS_CERT',
    help: 'PEM file with the certificate of this server and its chain: every port then uses TLS; read again when it changes',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  tlsKeyFile: {
    flag: '--tls-key',
    argument: '<file>',
    variable: 'PILOTHOUSE_TLS_KEY',
    help: 'PEM file with the key of the certificate, without a passphrase',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  tlsRedirectPort: {
    flag: '--tls-redirect-port',
    argument: '<number>',
    variable: 'PILOTHOUSE_TLS_REDIRECT_PORT',
    help: 'Port for plain HTTP that redirects to the HTTPS address; 0 picks a free port',
    parse: wholeNumber(0, 65535),
    rule: 'must be a port number from 0 to 65535',
  },
} as const satisfies Record<string, Setting>;
