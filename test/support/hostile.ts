import fc from 'fast-check';

/** Strings that are known to break servers. */
const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '😀'.repeat(300),
  'a'.repeat(300),
  'a'.repeat(5000),
  '__proto__',
  'constructor',
  '../..',
  "' OR 1=1 --",
  '"; DROP TABLE api_keys; --',
  '%',
  '%00',
  '{{7*7}}',
  '\u202e',
  '\r\n\r\n',
  '0',
  '-1',
  'null',
  'NaN',
  '9999-12-31T23:59:59Z',
  '10000-01-01T00:00:00Z',
  '2026-02-30',
  '2027-01-01T00:00:00+23:59',
  '::/0',
  '0.0.0.0/0',
  '127.1',
  '1.2.3.4/33',
  'fe80::1%eth0',
];
const NUMBERS = [
  0,
  -0,
  -1,
  1,
  1.5,
  2,
  3.0000001,
  5,
  12,
  20,
  21,
  24,
  36,
  360,
  1068,
  1080,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  1e21,
  1e308,
  5e-324,
  -1e308,
  4.999999999999999,
  24.000000000000004,
];

/** All values, for test tables. */
export const TROUBLESOME: readonly unknown[] = [
  ...TEXTS,
  ...NUMBERS,
  true,
  false,
  null,
  [],
  {},
  [null],
  [[]],
  { length: 1 },
];

const scalar = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.constantFrom(...NUMBERS),
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);

const anything = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 5 }) },
);

/** Arbitrary JSON. */
export const anyBody = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value));

type Mutable = Record<string, unknown> | unknown[];

/** A valid body with random changes: members replaced, removed or added at any depth, or corrupted bytes. */
export const mutateBody = (good: readonly object[]): fc.Arbitrary<Uint8Array> => {
  const body = fc.constantFrom(...good).map((value) => structuredClone(value));
  const replaced = fc
    .tuple(body, fc.array(fc.tuple(fc.nat(), anything), { minLength: 1, maxLength: 3 }))
    .map(([value, changes]) => {
      for (const [pick, replacement] of changes) {
        const members = listMembers(value as Mutable);
        const place = members[pick % Math.max(1, members.length)];
        if (place) (place.holder as Record<string, unknown>)[place.name] = replacement;
      }
      return JSON.stringify(value);
    });
  const extended = fc
    .tuple(body, fc.dictionary(fc.string({ unit: 'binary' }), anything, { maxKeys: 4 }))
    .map(([value, more]) => JSON.stringify({ ...more, ...value }));
  const corrupted = fc
    .tuple(body, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat({ max: 3 }))
    .map(([value, at, byte, length]) => {
      const bytes = [...new TextEncoder().encode(JSON.stringify(value))];
      bytes.splice(at % bytes.length, length, byte);
      return Uint8Array.from(bytes);
    });
  return fc
    .oneof(replaced, extended, corrupted)
    .map((text) => (typeof text === 'string' ? new TextEncoder().encode(text) : text));
};

function listMembers(value: Mutable): { holder: Mutable; name: string }[] {
  return Object.entries(value).flatMap(([name, member]) => [
    { holder: value, name },
    ...(typeof member === 'object' && member !== null ? listMembers(member as Mutable) : []),
  ]);
}

const escaped = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed()));
const rawText = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 40,
});

/** A path segment: escaped, raw, with `..`, very long, or invalid. */
export const segment = fc.oneof(
  fc.constantFrom(
    '%00',
    '%2F',
    '%2f..%2f',
    '..',
    '.',
    '%2e%2e',
    '%',
    '%zz',
    '%ff',
    '%c0%af',
    '%ed%a0%80',
    '',
    '*',
    ':organizationId',
    '__proto__',
    'constructor',
    'a'.repeat(300),
    'a'.repeat(9000),
    '%F0%9F%98%80',
    ';x=1',
    '@',
    '[object%20Object]',
  ),
  escaped,
  rawText.map((text) => text.replace(/[?#]/g, '')),
);

/** A query string with the given names: repeated, empty, escaped, raw. */
export const query = (names: readonly string[], values: readonly string[]): fc.Arbitrary<string> => {
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: escaped },
    { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', '', `${names[0]}[]`, `${names[0]}[a]`) },
  );
  const value = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...values) },
    { weight: 1, arbitrary: escaped },
    { weight: 1, arbitrary: rawText },
    { weight: 1, arbitrary: fc.constantFrom(...TEXTS).map((text) => encodeURIComponent(text.toWellFormed())) },
  );
  const pair = fc.tuple(name, fc.option(value)).map(([left, right]) => (right === null ? left : `${left}=${right}`));
  const pairs = fc.array(pair, { maxLength: 4 }).map((list) => list.join('&'));
  return fc
    .oneof({ weight: 5, arbitrary: pairs }, { weight: 1, arbitrary: rawText })
    .map((text) => text.replaceAll('#', '%23'));
};
