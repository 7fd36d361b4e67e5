import type { IncomingMessage } from 'node:http';
import { parseNetwork } from '../../kernel/access/addresses.ts';
import { AppError } from '../../kernel/errors.ts';
import { memoize } from '../../kernel/memo.ts';
import { hashSecret, isSameHash } from '../../platform/credentials/secrets.ts';
import { type Exception, toPrintable } from './exceptions.ts';
import type { RequestUrl } from './request-url.ts';

interface Credentials {
  user: string;
  password: string;
}

/** Who may send queries to a service. */
export interface AccessRules {
  username: 'default';
  /** base64(SHA-256(password)). */
  passwordHash: string;
  /** Addresses and CIDR blocks; an empty list means any address. */
  ipAccessList: readonly { source: string }[];
}

/** Limits failed attempts by client address. An `unauthorized` error of `authenticate` is a failed attempt. */
export interface Attempts {
  run<T>(address: string, credential: string, authenticate: () => T): Promise<T>;
}

export interface Access {
  setRules(rules: AccessRules): void;
  checkAddress(address: string): Exception | undefined;
  /** Of a request over HTTP. */
  authenticate(request: IncomingMessage, url: RequestUrl, address: string): Promise<Credentials | Exception>;
  checkCredentials(credentials: Credentials, address: string): Promise<Credentials | Exception>;
  /** Whether credentials that were checked before are still right. */
  isValid(credentials: Credentials, address: string): boolean;
}

export function createAccess(serviceId: string, attempts: Attempts, initial: AccessRules): Access {
  let { username } = initial;
  let passwordHash = Buffer.from(initial.passwordHash, 'base64');
  let isAllowed = createAddressCheck(initial.ipAccessList);

  function isRight({ user, password }: Credentials): boolean {
    const isSame = isSameHash(Buffer.from(hashSecret(password), 'base64'), passwordHash);
    // An empty password is never accepted, regardless of the stored hash.
    return isSame && user === username && password !== '';
  }

  async function checkCredentials(credentials: Credentials, address: string): Promise<Credentials | Exception> {
    const { user, password } = credentials;
    try {
      return await attempts.run(address, `${serviceId}\n${user}\n${password}`, () => {
        if (!isRight(credentials)) throw new AppError('unauthorized', 'The password is incorrect');
        return credentials;
      });
    } catch (error) {
      const { code, message, retryAfterSeconds } = error as Partial<AppError> & Error;
      if (code === 'unauthorized') return toRejection(user);
      if (code === 'too_many_requests')
        return { name: 'RECEIVED_ERROR_TOO_MANY_REQUESTS', text: message, retryAfterSeconds };
      // The store that counts failed attempts cannot be reached.
      return {
        name: 'ALL_CONNECTION_TRIES_FAILED',
        text: 'The password cannot be checked at the moment',
        retryAfterSeconds,
      };
    }
  }

  return {
    setRules(rules) {
      username = rules.username;
      passwordHash = Buffer.from(rules.passwordHash, 'base64');
      isAllowed = createAddressCheck(rules.ipAccessList);
    },

    checkAddress: (address) =>
      isAllowed(address)
        ? undefined
        : { name: 'IP_ADDRESS_NOT_ALLOWED', text: `The IP access list of the service does not contain ${address}` },

    async authenticate(request, url, address) {
      const credentials = readCredentials(request, url);
      return 'name' in credentials ? credentials : checkCredentials(credentials, address);
    },

    checkCredentials,
    isValid: (credentials, address) => isRight(credentials) && isAllowed(address),
  };
}

/** An entry that cannot be parsed matches no address, so a list with only such entries matches none. */
function createAddressCheck(list: readonly { source: string }[]): (address: string) => boolean {
  if (list.length === 0) return () => true;
  const networks = list.flatMap(({ source }) => parseNetwork(source) ?? []);
  return memoize((address: string) => networks.some((network) => network.contains(address)));
}

const invalid = (text: string): Exception => ({ name: 'AUTHENTICATION_FAILED', text });

/** The user that ClickHouse assumes when none is named. */
const DEFAULT_USER = 'default';

/**
 * Reads the credentials from where ClickHouse does, and rejects what it rejects: the X-ClickHouse headers together with
 * another way. Parameters replace the parts of Basic authentication.
 */
function readCredentials({ headers }: IncomingMessage, url: RequestUrl): Credentials | Exception {
  const user = headers['x-clickhouse-user'];
  const key = headers['x-clickhouse-key'];
  if (user || key || headers['x-clickhouse-ssl-certificate-auth']) {
    if (!user) return invalid('Got an empty user name from X-ClickHouse HTTP headers');
    if (headers.authorization)
      return invalid(
        'Invalid authentication: it is not allowed to use X-ClickHouse HTTP headers and Authorization HTTP header simultaneously',
      );
    if (url.user !== undefined || url.password !== undefined)
      return invalid(
        'Invalid authentication: it is not allowed to use X-ClickHouse HTTP headers and authentication via parameters simultaneously',
      );
    return { user: toUtf8(String(user)), password: toUtf8(String(key ?? '')) };
  }
  const basic = headers.authorization ? parseBasic(headers.authorization) : undefined;
  if (basic && 'name' in basic) return basic;
  return { user: url.user ?? basic?.user ?? DEFAULT_USER, password: url.password ?? basic?.password ?? '' };
}

/** Node reads the bytes of headers as Latin-1. */
const toUtf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');

function parseBasic(header: string): Credentials | Exception {
  const space = header.indexOf(' ');
  const scheme = space < 0 ? header : header.slice(0, space);
  if (scheme.toLowerCase() !== 'basic')
    return invalid(`Invalid authentication: '${toPrintable(scheme)}' HTTP Authorization scheme is not supported`);
  const text = Buffer.from(header.slice(space + 1), 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? { user: text, password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * The answers of ClickHouse 26.7 to a wrong password: 401 with a challenge for `default`, 403 for any other user. The
 * advice on where to reset the password is left out, because it is about other products.
 */
const toRejection = (user: string): Exception => ({
  name: user === DEFAULT_USER ? 'REQUIRED_PASSWORD' : 'AUTHENTICATION_FAILED',
  text: `${toPrintable(user)}: Authentication failed: password is incorrect, or there is no user with such name`,
});
