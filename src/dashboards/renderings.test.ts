import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createRenderings, rendered } from './renderings.ts';

const MIB = 1024 * 1024;

describe('rendered answers', () => {
  it('are kept until the revision changes, each organization for itself', () => {
    const renderings = createRenderings();
    const answer = renderings.keep('a', 1, 'x', rendered('{}'));
    expect(renderings.find('a', 1, 'x')).toBe(answer);
    expect(renderings.find('a', 1, 'y')).toBeUndefined();
    expect(renderings.find('b', 1, 'x')).toBeUndefined();
    expect(renderings.find('a', 2, 'x')).toBeUndefined();
    renderings.keep('a', 2, 'y', rendered('{}'));
    expect(renderings.find('a', 1, 'x')).toBeUndefined();
  });

  it('make room for others before they take too much memory', () => {
    const renderings = createRenderings();
    for (let organization = 0; organization < 100; organization++)
      renderings.keep(`o${organization}`, 1, 'x', rendered('x'.repeat(MIB)));
    const kept = Array.from({ length: 100 }, (_, index) => index).filter((index) =>
      renderings.find(`o${index}`, 1, 'x'),
    );
    expect(kept.length).toBeLessThanOrEqual(32);
    expect(kept.at(-1)).toBe(99);
    renderings.keep('huge', 1, 'x', rendered('x'.repeat(40 * MIB)));
    expect(renderings.find('huge', 1, 'x')).toBeUndefined();
    const small = renderings.keep('small', 1, 'x', rendered('{}'));
    expect(renderings.find('small', 1, 'x')).toBe(small);
  });

  it('are compressed once; what is short stays as it is', async () => {
    const renderings = createRenderings();
    const long = renderings.keep('a', 1, 'x', rendered(JSON.stringify('x'.repeat(5000))));
    const encoded = await renderings.encoded('a', long, 'gzip');
    expect(gunzipSync(encoded.bytes)).toEqual(long.plain.bytes);
    expect(long.encoded.get('gzip')).toBe(encoded);
    expect(encoded.etag).not.toBe(long.plain.etag);
    const short = rendered('{}');
    expect(await renderings.encoded('a', short, 'br')).toBe(short.plain);
  });
});
