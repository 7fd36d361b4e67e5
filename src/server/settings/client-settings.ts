import type { Setting } from './setting.ts';
import { INVALID, nonEmpty, urlWithScheme } from './setting-parsers.ts';

/** Settings of commands that are clients of a server. A server has none of them. */
export const CLIENT_SETTINGS = {
  serverUrl: {
    flag: '--url',
    argument: '<url>',
    variable: 'PILOTHOUSE_URL',
    help: 'The server to use instead of the store on this machine',
    parse: urlWithScheme(/^https?:\/\//),
    rule: 'must look like http://127.0.0.1:8080',
  },
  serverKey: {
    flag: '--key',
    argument: '<id:secret>',
    variable: 'PILOTHOUSE_KEY',
    help: 'API key for the server',
    isSecret: true,
    parse: (text: string): string | typeof INVALID => (/^[^:]+:.+$/.test(text) ? text : INVALID),
    rule: 'must look like id:secret',
  },
  profile: {
    flag: '--profile',
    argument: '<name>',
    variable: 'PILOTHOUSE_PROFILE',
    help: 'Profile with the URL and the key of a server, as listed by profile list',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  ingestToken: {
    flag: '--token',
    argument: '<token>',
    variable: 'PILOTHOUSE_TOKEN',
    help: 'Token with the access ingest, for sending OpenTelemetry data',
    isSecret: true,
    parse: parseToken,
    rule: 'must have 1 to 1024 visible ASCII characters',
  },
  readToken: {
    flag: '--read-token',
    argument: '<token>',
    variable: 'PILOTHOUSE_READ_TOKEN',
    help: 'Dashboard token that can read, for querying without an API key',
    isSecret: true,
    parse: parseToken,
    rule: 'must have 1 to 1024 visible ASCII characters',
  },
  servicePassword: {
    flag: '--password',
    argument: '<password>',
    variable: 'PILOTHOUSE_PASSWORD',
    help: 'Password of the user default of the service',
    isSecret: true,
    parse: nonEmpty,
    rule: 'must not be empty',
  },
} as const satisfies Record<string, Setting>;

/** What fits into an Authorization header. */
function parseToken(text: string): string | typeof INVALID {
  return /^[!-~]{1,1024}$/.test(text) ? text : INVALID;
}
