import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressBlock,
  canonicalAddress,
  classifyAddress,
  isLoopbackHost,
  parseNetwork,
  toReachable,
} from './addresses.ts';

// An independent implementation on integers: two addresses share a network if their prefixes are the same number.
const isInNetwork = (address: bigint, network: bigint, prefix: number, width: number) =>
  address >> BigInt(width - prefix) === network >> BigInt(width - prefix);

const v4Text = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
const toGroups = (value: bigint) =>
  Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));

const v6Spellings: ((value: bigint) => string)[] = [
  (value) =>
    toGroups(value)
      .map((group) => group.toString(16))
      .join(':'),
  (value) =>
    toGroups(value)
      .map((group) => group.toString(16).padStart(4, '0').toUpperCase())
      .join(':'),
  (value) =>
    `${toGroups(value)
      .slice(0, 6)
      .map((group) => group.toString(16))
      .join(':')}:${v4Text(value & 0xffffffffn)}`,
  (value) => {
    const hex = toGroups(value).map((group) => group.toString(16));
    const start = hex.indexOf('0');
    if (start === -1) return hex.join(':');
    const length = hex.slice(start).findIndex((group) => group !== '0');
    const end = length === -1 ? hex.length : start + length;
    return `${hex.slice(0, start).join(':')}::${hex.slice(end).join(':')}`;
  },
];

const MAPPED = 0xffffn << 32n;
const isMapped = (value: bigint) => value >> 32n === 0xffffn;
const v4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n });
const v6 = fc
  .oneof(
    fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
    fc.bigInt({ min: 0n, max: 0xffffffffn }),
    fc.constantFrom(0n, 1n, 0xfe80n << 112n, 0x20010db8n << 96n),
  )
  .filter((value) => !isMapped(value));
const v6Written = fc
  .tuple(v6, fc.constantFrom(...v6Spellings))
  .map(([value, write]) => ({ value, text: write(value) }));
const flips = (width: number) =>
  fc
    .bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n })
    .chain((noise) => fc.integer({ min: 0, max: width }).map((keep) => noise >> BigInt(keep)));

describe('K6: a network contains', () => {
  it('exactly the IPv4 addresses with its prefix', () => {
    fc.assert(
      fc.property(v4, fc.integer({ min: 0, max: 32 }), flips(32), (network, prefix, noise) => {
        const address = network ^ noise;
        expect(parseNetwork(`${v4Text(network)}/${prefix}`)?.contains(v4Text(address))).toBe(
          isInNetwork(address, network, prefix, 32),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('exactly the IPv6 addresses with its prefix, in any notation', () => {
    fc.assert(
      fc.property(
        v6Written,
        fc.integer({ min: 0, max: 128 }),
        flips(128),
        fc.constantFrom(...v6Spellings),
        (network, prefix, noise, write) => {
          const address = network.value ^ noise;
          fc.pre(!isMapped(address));
          expect(parseNetwork(`${network.text}/${prefix}`)?.contains(write(address))).toBe(
            isInNetwork(address, network.value, prefix, 128),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('the same addresses regardless of its host bits', () => {
    fc.assert(
      fc.property(v4, fc.integer({ min: 0, max: 32 }), v4, v4, (network, prefix, host, candidate) => {
        const other =
          ((network >> BigInt(32 - prefix)) << BigInt(32 - prefix)) | (host & ((1n << BigInt(32 - prefix)) - 1n));
        const contains = (base: bigint) => parseNetwork(`${v4Text(base)}/${prefix}`)?.contains(v4Text(candidate));
        expect(contains(other)).toBe(contains(network));
        expect(parseNetwork(`${v4Text(network)}/${prefix}`)?.contains(v4Text(other))).toBe(true);
      }),
    );
  });

  it('only itself if it has no prefix length', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          v4.map((value) => v4Text(value)),
          v6Written.map(({ text }) => text),
        ),
        v4,
        (text, other) => {
          expect(parseNetwork(text)?.contains(text)).toBe(true);
          expect(parseNetwork(text)?.contains(v4Text(other))).toBe(text === v4Text(other));
        },
      ),
    );
  });

  it('B9: an IPv4-mapped address if it contains the IPv4 address, in any notation', () => {
    fc.assert(
      fc.property(
        v4,
        fc.integer({ min: 0, max: 32 }),
        flips(32),
        fc.constantFrom(...v6Spellings),
        (network, prefix, noise, write) => {
          const address = network ^ noise;
          const expected = isInNetwork(address, network, prefix, 32);
          expect(parseNetwork(`${v4Text(network)}/${prefix}`)?.contains(write(MAPPED | address))).toBe(expected);
          expect(parseNetwork(`${write(MAPPED | network)}/${prefix + 96}`)?.contains(v4Text(address))).toBe(expected);
        },
      ),
    );
  });

  it('no address of the other family: 0.0.0.0/0 is all of IPv4, ::/0 all of IPv6', () => {
    fc.assert(
      fc.property(v4, v6Written, (four, six) => {
        expect(parseNetwork('0.0.0.0/0')?.contains(v4Text(four))).toBe(true);
        expect(parseNetwork('0.0.0.0/0')?.contains(six.text)).toBe(false);
        expect(parseNetwork('::/0')?.contains(six.text)).toBe(true);
        expect(parseNetwork('::/0')?.contains(v4Text(four))).toBe(false);
      }),
    );
  });

  it.each(['', 'localhost', '127.1', '10.0.0', '1.2.3.4.5', '::1::'])('not %j, which is not an address', (text) => {
    expect(parseNetwork('0.0.0.0/0')?.contains(text)).toBe(false);
    expect(parseNetwork('::/0')?.contains(text)).toBe(false);
  });
});

describe('K6: rejected as a network', () => {
  it.each([
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0x7f000001',
    '010.0.0.1',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '-1.2.3.4',
    '1.2.3.4.',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/08',
    '1.2.3.4/-1',
    '1.2.3.4/+8',
    '1.2.3.4/8/8',
    '1.2.3.4/8.0',
    '1.2.3.4/255.0.0.0',
    '10/8',
    '10.0/16',
    ' 1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.4\n',
    '１.2.3.4',
    '',
    '/',
    '/8',
    '*',
    'any',
    'localhost',
    'example.com',
    '1.2.3.4-1.2.3.9',
    '1.2.3.4:80',
    '::/129',
    '::1/',
    '::1/064',
    '1::2::3',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    'g::',
    '[::1]',
    'fe80::1%eth0',
    'fe80::%1/64',
    '::ffff:127.1',
    '::ffff:010.0.0.1',
    '::ffff:256.0.0.1',
    '::1.2.3',
  ])('%j', (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });

  it('IPv4 shorthands with fewer than four numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(70_000), { minLength: 1, maxLength: 3 }), (numbers) => {
        expect(parseNetwork(numbers.join('.'))).toBeUndefined();
      }),
    );
  });
});

describe('B9: the canonical address', () => {
  it('is the same for every notation, and canonical itself', () => {
    fc.assert(
      fc.property(v6, (value) => {
        const [first, ...others] = v6Spellings.map((write) => canonicalAddress(write(value)));
        expect(new Set(others)).toEqual(new Set([first]));
        expect(canonicalAddress(first ?? '')).toBe(first);
      }),
    );
  });

  it('is IPv4 for an IPv4-mapped address', () => {
    fc.assert(
      fc.property(v4, fc.constantFrom(...v6Spellings), (value, write) => {
        expect(canonicalAddress(write(MAPPED | value))).toBe(v4Text(value));
      }),
    );
  });

  it.each([
    ['fe80::1%eth0', 'fe80::1'],
    ['10.0.0.1', '10.0.0.1'],
    ['unix socket', 'unix socket'],
  ])('%s becomes %s', (text, expected) => {
    expect(canonicalAddress(text)).toBe(expected);
  });
});

describe('B7: failed attempts are counted', () => {
  it('by the first 64 bits of an IPv6 address', () => {
    fc.assert(
      fc.property(v6, v6, (one, other) => {
        const write = v6Spellings[0] ?? String;
        expect(addressBlock(write(one)) === addressBlock(write(other))).toBe(one >> 64n === other >> 64n);
      }),
    );
  });

  it('by the whole IPv4 address', () => {
    fc.assert(
      fc.property(v4, (value) => {
        expect(addressBlock(v4Text(value))).toBe(v4Text(value));
        // As a socket that listens on :: reports it.
        expect(addressBlock(`::ffff:${v4Text(value)}`)).toBe(v4Text(value));
      }),
    );
  });
});

describe('the target of an outgoing request', () => {
  const anyV6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
  const isGlobalUnicast = (value: bigint) => value >> 125n === 1n;

  it.each([
    ['IPv4-compatible', (v4Value: bigint) => v4Value],
    ['IPv4-translated', (v4Value: bigint) => (0xffffn << 48n) | v4Value],
    ['NAT64', (v4Value: bigint) => (0x64ff9bn << 96n) | v4Value],
    ['local NAT64', (v4Value: bigint) => (0x64ff9b0001n << 80n) | v4Value],
    ['6to4', (v4Value: bigint) => (0x2002n << 112n) | (v4Value << 80n) | 1n],
    ['Teredo', (v4Value: bigint) => (0x20010000n << 96n) | (v4Value ^ 0xffffffffn)],
    ['ISATAP', (v4Value: bigint) => (0x20010470n << 96n) | (0x5efen << 32n) | v4Value],
    ['ISATAP with a global address', (v4Value: bigint) => (0x20010470n << 96n) | (0x02005efen << 32n) | v4Value],
  ])('is never an %s address, in any notation: it may lead to the IPv4 address inside', (_, embed) => {
    fc.assert(
      fc.property(fc.oneof(v4, fc.constantFrom(0x7f000001n, 0x0a000001n, 0xa9fea9fen)), (value) => {
        fc.pre(embed(value) > 1n);
        for (const write of v6Spellings)
          expect(classifyAddress(write(embed(value))), write(embed(value))).toBe('never');
      }),
    );
  });

  it('is public only in the block of IPv6 that is assigned for the internet', () => {
    fc.assert(
      fc.property(anyV6, fc.constantFrom(...v6Spellings), (value, write) => {
        fc.pre(!isMapped(value) && !isGlobalUnicast(value));
        expect(classifyAddress(write(value))).not.toBe('public');
      }),
    );
    for (const text of ['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001:81b::200e', '1.1.1.1'])
      expect(classifyAddress(text), text).toBe('public');
  });

  it('is the IPv4 address of an IPv4-mapped one', () => {
    fc.assert(
      fc.property(v4, fc.constantFrom(...v6Spellings), (value, write) => {
        expect(classifyAddress(write(MAPPED | value))).toBe(classifyAddress(v4Text(value)));
      }),
    );
  });
});

it.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '127.0.0.1'],
  ['::1', '::1'],
  ['10.0.0.1', '10.0.0.1'],
])('a server that listens on %s can be reached at %s', (host, expected) => {
  expect(toReachable(host)).toBe(expected);
});

describe('a loopback host', () => {
  it.each(['localhost', 'LocalHost', '127.0.0.1', '127.255.0.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
    '%s',
    (host) => {
      expect(isLoopbackHost(host)).toBe(true);
    },
  );

  it.each(['', '0.0.0.0', '::', '128.0.0.1', '::127.0.0.1', '::2', 'localhost.example', '127.1', '[::1]'])(
    'is not %j',
    (host) => {
      expect(isLoopbackHost(host)).toBe(false);
    },
  );
});
