import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { findAddressViolation } from './webhook.ts';

/** Why an address must not be connected to; undefined if it may be. */
type FindViolation = (address: string) => string | undefined;

const allow =
  (allowPrivate: boolean): FindViolation =>
  (address) =>
    findAddressViolation(address, allowPrivate);

export const createAllowedLookup = (allowPrivate: boolean): LookupFunction => createCheckedLookup(allow(allowPrivate));

/** Resolves the name once and connects to the checked address, so DNS rebinding cannot bypass the check. */
const createCheckedLookup =
  (findViolation: FindViolation): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const [first, ...others] = found.filter(({ address }) => findViolation(address) === undefined);
      if (!first) {
        const violation = findViolation(found[0]?.address ?? '');
        return callback(new Error(violation ?? 'The host name has no address'), '', 0);
      }
      if (options.all) (callback as unknown as AllAddressesCallback)(null, [first, ...others]);
      else callback(null, first.address, first.family);
    });
  };

type AllAddressesCallback = (error: null, addresses: LookupAddress[]) => void;

export const resolveAllowed = (host: string, allowPrivate: boolean, signal: AbortSignal): Promise<string> =>
  resolveChecked(host, allow(allowPrivate), signal);

/** The checked address of a host, for a connection that another component opens. Rejects when the signal is aborted. */
export function resolveChecked(host: string, findViolation: FindViolation, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    createCheckedLookup(findViolation)(host, {}, (error, address) => {
      signal.removeEventListener('abort', abort);
      if (error) reject(error);
      else resolve(String(address));
    });
  });
}
