import type { FastifyRequest } from 'fastify';
import { canonicalAddress, type Network } from '../../../kernel/access/addresses.ts';
import { memoize } from '../../../kernel/memo.ts';

const canonical = memoize(canonicalAddress);

/**
 * The client's address: the address of the socket, or, behind a trusted proxy, the right-most address in X-Forwarded-For
 * that is not a trusted proxy. Addresses further left can be forged and are ignored.
 */
export function createClientAddress(trustedProxies: readonly Network[]): (request: FastifyRequest) => string {
  const isTrusted = (address: string) => trustedProxies.some((network) => network.contains(address));
  return (request) => {
    let address = canonical(request.socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || !isTrusted(address)) return address;
    const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    for (const hop of forwarded.reverse()) {
      const text = hop.trim();
      if (text === '') continue;
      address = canonicalAddress(text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'));
      if (!isTrusted(address)) return address;
    }
    return address;
  };
}
