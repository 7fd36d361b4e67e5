import type { IncomingMessage } from 'node:http';
import { parseNetwork } from '../../kernel/access/addresses.ts';
import { AppError } from '../../kernel/errors.ts';
import { memoize } from '../../kernel/memo.ts';
import type { MaybePromise } from '../../kernel/tasks/maybe-promise.ts';
import { hashSecret, isSameHash } from '../../platform/credentials/secrets.ts';
import { type Credentials, readCredentials, toRejection } from './credentials.ts';
import type { Exception } from './exceptions.ts';
import type { RequestUrl } from './request-url.ts';

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
  run<T>(address: string, credential: string, authenticate: () => MaybePromise<T>): MaybePromise<T>;
}

export interface Access {
  setRules(rules: AccessRules): void;
  checkAddress(address: string): Exception | undefined;
  authenticate(request: IncomingMessage, url: RequestUrl, address: string): MaybePromise<Credentials | Exception>;
}

export function createAccess(serviceId: string, attempts: Attempts, initial: AccessRules): Access {
  let { username } = initial;
  let passwordHash = Buffer.from(initial.passwordHash, 'base64');
  let isAllowed = createAddressCheck(initial.ipAccessList);

  function isRight({ user, password }: Credentials): boolean {
    const isSame = isSameHash(Buffer.from(hashSecret(password), 'base64'), passwordHash);
    // An empty password is never right, whatever hash is stored.
    return isSame && user === username && password !== '';
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

    authenticate(request, url, address) {
      const credentials = readCredentials(request, url);
      if ('name' in credentials) return credentials;
      const { user, password } = credentials;
      const fail = (error: unknown): Exception => {
        if (!(error instanceof AppError)) throw error;
        if (error.code === 'unauthorized') return toRejection(user);
        const { message, retryAfterSeconds } = error;
        return { name: 'RECEIVED_ERROR_TOO_MANY_REQUESTS', text: message, retryAfterSeconds };
      };
      try {
        const checked = attempts.run(address, `${serviceId}\n${user}\n${password}`, () => {
          if (!isRight(credentials)) throw new AppError('unauthorized', 'The password is not right');
          return credentials;
        });
        return checked instanceof Promise ? checked.catch(fail) : checked;
      } catch (error) {
        return fail(error);
      }
    },
  };
}

/** An entry that cannot be parsed matches no address, so a list with only such entries matches none. */
function createAddressCheck(list: readonly { source: string }[]): (address: string) => boolean {
  if (list.length === 0) return () => true;
  const networks = list.flatMap(({ source }) => parseNetwork(source) ?? []);
  return memoize((address: string) => networks.some((network) => network.contains(address)));
}
