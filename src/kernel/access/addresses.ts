import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A parsed address or CIDR block. */
export interface Network {
  contains(address: string): boolean;
}

// Four decimal octets without leading zeros: programs disagree about `127.1`, `0x7f.1` and `010.0.0.1`.
const DOTTED_QUAD = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Parses an IPv4 or IPv6 address or a CIDR block; host bits are ignored. Undefined if it is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [host = '', bits, ...rest] = text.split('/');
  const address = parseAddress(host);
  if (!address || rest.length > 0 || host.includes('%')) return undefined;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)) return undefined;
  const prefix = bits === undefined ? width : Number(bits);
  if (prefix > width) return undefined;
  const [network, length] = unmapIpv4(address, prefix);
  return {
    contains(candidate) {
      const parsed = parseAddress(candidate);
      if (!parsed) return false;
      const [other] = unmapIpv4(parsed, 128);
      return other.kind() === network.kind() && other.match(network as ipaddr.IPv6, length);
    },
  };
}

/** The canonical form of an address: IPv4-mapped IPv6 as IPv4, no zone. Other text is returned unchanged. */
export function canonicalAddress(text: string): string {
  const parsed = parseAddress(text.split('%')[0] ?? '');
  return parsed ? unmapIpv4(parsed, 128)[0].toString() : text;
}

/** An address of this machine for a server that listens on all addresses, which clients cannot connect to on every system. */
export function toReachable(host: string): string {
  // A server on `::` accepts IPv4, too; a machine without IPv6 has no `::1`.
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}

/** The block that counts as one client in rate limits: an IPv4 address, or the /64 of an IPv6 address. */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address);
  if (!parsed) return address;
  const [unmapped] = unmapIpv4(parsed, 128);
  return unmapped.kind() === 'ipv6' ? (unmapped as ipaddr.IPv6).parts.slice(0, 4).join(':') : unmapped.toString();
}

/** Cloud metadata services, which return credentials of the machine. */
const METADATA_ADDRESSES = ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254'];

/** The only block of IPv6 that is assigned for the internet. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Classifies the target of an outgoing request that a user configured. `public` is the internet, `private` this machine
 * and its networks. `never` must not be contacted: link-local, multicast, unspecified, metadata services, and addresses
 * that contain an IPv4 address (IPv4-compatible, NAT64, 6to4, Teredo, ISATAP), which may be routed to that address.
 */
export function classifyAddress(text: string): 'public' | 'private' | 'never' {
  const parsed = parseAddress(text.split('%')[0] ?? '');
  if (!parsed) return 'never';
  const [address] = unmapIpv4(parsed, 128);
  if (METADATA_ADDRESSES.includes(address.toString())) return 'never';
  const range = address.range();
  if (range === 'unicast') return address.kind() === 'ipv4' || isInternet(address as ipaddr.IPv6) ? 'public' : 'never';
  return ['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'].includes(range) ? 'private' : 'never';
}

const isInternet = (address: ipaddr.IPv6): boolean => address.match(...GLOBAL_UNICAST) && !isIsatap(address);

/** The interface id is `0:5efe` or `200:5efe` and an IPv4 address (RFC 5214). */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean => parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);

/** Whether a server that listens on this address, or a client that connects to it, stays on this machine. */
export function isLoopbackHost(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  const parsed = parseAddress(host);
  return parsed !== undefined && unmapIpv4(parsed, 128)[0].range() === 'loopback';
}

/** Whether a Host header names this machine: `localhost:8080`, `[::1]:8080`. */
export const isLoopbackHostHeader = (header: string): boolean =>
  isLoopbackHost(header.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1'));

function parseAddress(text: string): Address | undefined {
  if (DOTTED_QUAD.test(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined;
  const start = text.lastIndexOf(':') + 1;
  const quad = text.slice(start);
  if (!quad.includes('.')) return ipaddr.IPv6.parse(text);
  if (!DOTTED_QUAD.test(quad)) return undefined;
  // The parser would read the IPv4-compatible `::10.0.0.1` as the IPv4-mapped `::ffff:10.0.0.1`.
  const [a = 0, b = 0, c = 0, d = 0] = quad.split('.').map(Number);
  return ipaddr.IPv6.parse(`${text.slice(0, start)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
}

/** `::ffff:10.0.0.1` counts as `10.0.0.1`, and `::ffff:10.0.0.0/104` as `10.0.0.0/8`. */
function unmapIpv4(address: Address, prefix: number): [Address, number] {
  if (address.kind() === 'ipv4') return [address, Math.min(prefix, 32)];
  const v6 = address as ipaddr.IPv6;
  if (!v6.isIPv4MappedAddress() || prefix < 96) return [v6, prefix];
  return [v6.toIPv4Address(), prefix - 96];
}
