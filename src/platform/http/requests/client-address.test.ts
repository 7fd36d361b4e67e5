import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { type Network, parseNetwork } from '../../../kernel/access/addresses.ts';
import { createClientAddress } from './client-address.ts';

/** The client address of a request from `peer` with this header. */
async function readClientAddress(trusted: string[], peer: string, forwarded?: string | string[]): Promise<string> {
  const app = Fastify();
  const clientAddress = createClientAddress(trusted.map((text) => parseNetwork(text) as Network));
  app.get('/', async (request) => clientAddress(request));
  const { body } = await app.inject({
    url: '/',
    remoteAddress: peer,
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  });
  return body;
}

describe('the client address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['::ffff:7f00:1', '127.0.0.1'],
    ['2001:DB8::0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('B9: a socket from %s has the address %s', async (peer, address) => {
    expect(await readClientAddress([], peer)).toBe(address);
  });

  it.each([
    ['no proxy is trusted', [], '127.0.0.1', '203.0.113.7', '127.0.0.1'],
    ['the peer is not the proxy', ['10.0.0.1'], '10.0.0.2', '203.0.113.7', '10.0.0.2'],
    ['the peer is the proxy', ['10.0.0.1'], '10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['the address of the proxy is IPv4-mapped', ['10.0.0.1'], '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['the proxy uses IPv6', ['2001:db8::/32'], '2001:db8::9', '2001:db9::7', '2001:db9::7'],
    ['there is no header', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
    ['the header is empty', ['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
    ['the header contains only commas', ['10.0.0.1'], '10.0.0.1', ' , ,', '10.0.0.1'],
    [
      'the client forged an address further left',
      ['10.0.0.1'],
      '10.0.0.1',
      '10.0.0.1, 127.0.0.1, 203.0.113.7',
      '203.0.113.7',
    ],
    [
      'there is a chain of proxies',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '198.51.100.1, 203.0.113.7, 10.9.9.9, 10.8.8.8',
      '203.0.113.7',
    ],
    [
      'an untrusted proxy is in between',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '203.0.113.7, 198.51.100.1, 10.8.8.8',
      '198.51.100.1',
    ],
    ['all of them are proxies', ['10.0.0.0/8'], '10.0.0.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
    ['a client is IPv4-mapped', ['10.0.0.1'], '10.0.0.1', '::ffff:203.0.113.7', '203.0.113.7'],
    ['a proxy in the chain is IPv4-mapped', ['10.0.0.0/8'], '10.0.0.1', '203.0.113.7, ::ffff:10.2.2.2', '203.0.113.7'],
    ['a port follows', ['10.0.0.1'], '10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
    ['a port follows an IPv6 address', ['10.0.0.1'], '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['an IPv6 address is in brackets', ['10.0.0.1'], '10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['the right-most entry is not an address', ['10.0.0.1'], '10.0.0.1', '203.0.113.7, unknown', 'unknown'],
    ['the entry is a shorthand, which is not an address', ['127.0.0.0/8'], '127.0.0.1', '203.0.113.7, 127.1', '127.1'],
    ['the header is repeated', ['10.0.0.1'], '10.0.0.1', ['203.0.113.7', '198.51.100.1'], '198.51.100.1'],
  ])('B9: where %s', async (_, trusted, peer, forwarded, address) => {
    expect(await readClientAddress(trusted, peer, forwarded)).toBe(address);
  });
});
