import { describe, expect, it } from 'vitest';
import { ENCODINGS, preferredEncoding } from './encodings.ts';
import { createEtag, matchesEtag, toEncodedEtag } from './etag.ts';

describe('the ETag of a response', () => {
  const etag = createEtag('{"a":1}');

  it('is the same for the same text, and different for another text', () => {
    expect(createEtag('{"a":1}')).toBe(etag);
    expect(createEtag('{"a":2}')).not.toBe(etag);
    expect(etag).toMatch(/^"[\w-]{27}"$/);
  });

  it.each(['*', 'TAG', 'W/TAG', '"x", TAG', '"x",W/TAG , "y"', ' TAG '])('%s matches', (header) => {
    expect(matchesEtag(header.replace('TAG', etag), etag)).toBe(true);
    for (const encoding of ENCODINGS)
      expect(matchesEtag(header.replace('TAG', toEncodedEtag(etag, encoding)), etag)).toBe(true);
  });

  it.each(['', '""', '"x"', 'W/"x"', 'x', ',', '"TAG"', 'w/TAG', '"*"'])('%j does not match', (header) => {
    expect(matchesEtag(header.replace('TAG', etag), etag)).toBe(false);
  });
});

describe('the preferred encoding', () => {
  it.each([
    ['', 'identity'],
    ['br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip, br', 'br'],
    ['gzip;q=0.9, br;q=0.8', 'gzip'],
    ['br; q=0, *;q=0.1', 'gzip'],
    ['*;q=0', 'identity'],
    ['identity;q=1, *;q=0.5', 'identity'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=nonsense', 'identity'],
    ['zstd, deflate', 'identity'],
  ])('for %j is %s', (header, encoding) => {
    expect(preferredEncoding(header)).toBe(encoding);
  });
});
