import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isShortJson, parseJsonInSlices, stringifyInSlices } from './json-slices.ts';

const LONG = 70_000;
const padding = `"${'x'.repeat(LONG)}"`;

/** The text in a list that is too long to be parsed at once. */
const parseLong = async (text: string): Promise<unknown> => {
  const long = `[${padding}, ${text}]`;
  expect(isShortJson(long)).toBe(false);
  return ((await parseJsonInSlices(long)) as unknown[])[1];
};

describe('B5: JSON parsed in slices', () => {
  it('equals JSON.parse for any value, with any whitespace', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), async (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(await parseLong(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  it('accepts and rejects the same texts as JSON.parse', async () => {
    const token = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '"\\n"', '"\\u00e9"', '"\\ud83d"', '\\', ' ', '\n', '\u00a0'],
      ...['0', '-0', '01', '1.5', '1.', '.5', '1e3', '1e', '1E+2', '-', '1e400', 'true', 'null', 'False', 'NaN', '\0'],
    );
    const outcome = async (parse: () => unknown) => {
      try {
        return { value: await parse() };
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
        return 'rejected';
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(token, { maxLength: 12 }), async (tokens) => {
        const text = `[${padding}, ${tokens.join('')}`;
        for (const whole of [text, `${text}]`, `${text}]}`])
          expect(await outcome(() => parseJsonInSlices(whole))).toEqual(await outcome(() => JSON.parse(whole)));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['ordinary characters', 'x'],
    ['short escapes', '\\n'],
    ['escaped backslashes and quotes', '\\\\\\"'],
    ['escaped surrogate pairs', '\\ud83d\\ude00'],
    ['escapes between characters', 'ab\\u00e9c'],
    ['characters of two units', '😀'],
  ])('joins the parts of a long string of %s', async (_, piece) => {
    for (const shift of ['', 'y', 'yy', 'yyy', 'yyyy', 'yyyyy']) {
      const text = `"${shift}${piece.repeat((3 * LONG) / piece.length)}"`;
      expect((await parseJsonInSlices(text)) === JSON.parse(text), shift).toBe(true);
    }
  });

  it('keeps the last of repeated members, and __proto__ as a member', async () => {
    const value = (await parseLong('{"a":1,"__proto__":{"b":2},"a":3}')) as Record<string, unknown>;
    expect(Object.entries(value)).toEqual([
      ['a', 3],
      ['__proto__', { b: 2 }],
    ]);
    expect(value.b).toBeUndefined();
  });
});

it('JSON rendered in slices equals JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.string(), async (list, name) => {
      const object = { name, list: [...list, 'x'.repeat(LONG), 'y'] };
      expect(await stringifyInSlices(object, 'list')).toBe(JSON.stringify(object));
    }),
    { numRuns: 50 },
  );
});
