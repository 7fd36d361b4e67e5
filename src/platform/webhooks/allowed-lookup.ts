import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { findAddressViolation } from './webhook.ts';

/** Resolves the name once and connects to the checked address, so DNS rebinding cannot bypass the check. */
export const createAllowedLookup =
  (allowPrivate: boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const [first, ...others] = found.filter(
        ({ address }) => findAddressViolation(address, allowPrivate) === undefined,
      );
      if (!first) {
        const violation = findAddressViolation(found[0]?.address ?? '', allowPrivate);
        return callback(new Error(violation ?? 'The host name has no address'), '', 0);
      }
      if (options.all) (callback as unknown as AllAddressesCallback)(null, [first, ...others]);
      else callback(null, first.address, first.family);
    });
  };

type AllAddressesCallback = (error: null, addresses: LookupAddress[]) => void;

/** The checked address of a host, for a connection that another component opens. Rejects when the signal is aborted. */
export function resolveAllowed(host: string, allowPrivate: boolean, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    createAllowedLookup(allowPrivate)(host, {}, (error, address) => {
      signal.removeEventListener('abort', abort);
      if (error) reject(error);
      else resolve(String(address));
    });
  });
}
