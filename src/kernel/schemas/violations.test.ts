import fc from 'fast-check';
import Type, { type TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { formatValue, formatViolation, MISSING, rejectViolations } from '../errors.ts';
import { PatternText } from './pattern-text.ts';
import { listViolations } from './violations.ts';

const formatViolations = (schema: TSchema, value: unknown, place = 'request body') =>
  listViolations(schema, value, place).map(formatViolation);

const optional = (schema: TSchema) => Type.Object({ x: Type.Optional(schema) });

describe('M3: a formatted violation', () => {
  it.each<[TSchema, unknown, string]>([
    [Type.Number(), '3', 'The value must be a number <string:3>'],
    [Type.Integer(), 2.5, 'The value must be an integer <number:2.5>'],
    [Type.Boolean(), 1, 'The value must be a boolean <number:1>'],
    [Type.String(), null, 'The value must be a string <null>'],
    [Type.Object({}), [], 'The value must be an object <array>'],
    [Type.Array(Type.Number()), {}, 'The value must be an array <object>'],
    [Type.Number({ minimum: 24 }), 12, 'The value must be at least 24 <number:12>'],
    [Type.Number({ maximum: 20 }), 21, 'The value must be at most 20 <number:21>'],
    [Type.Number({ multipleOf: 12 }), 32, 'The value must be a multiple of 12 <number:32>'],
    [Type.String({ minLength: 1 }), '', 'The value must not be empty <string:>'],
    [Type.String({ minLength: 3 }), 'ab', 'The value must have at least 3 characters <string:ab>'],
    [Type.String({ maxLength: 2 }), 'abc', 'The value must have at most 2 characters <string:abc>'],
    [Type.String({ format: 'uuid' }), 'x', 'The value must be a valid uuid <string:x>'],
    [Type.Enum(['a', 'b']), 'c', 'The value must be one of a, b <string:c>'],
    [Type.Union([Type.String(), Type.Null()]), 3, 'The value must be a string or null <number:3>'],
    [Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]), -3, 'The value must be at least 0 <number:-3>'],
    [Type.Union([Type.Enum(['a', 'b']), Type.Null()]), 'c', 'The value must be one of a, b <string:c>'],
    [Type.Array(Type.Number(), { minItems: 1 }), [], 'The list must have at least 1 element <array>'],
    [Type.Array(Type.Number(), { minItems: 2 }), [], 'The list must have at least 2 elements <array>'],
    [Type.Array(Type.Number(), { maxItems: 1 }), [1, 2], 'The list must have at most 1 elements <array>'],
    [Type.Array(Type.Number(), { uniqueItems: true }), [1, 1], 'The list must not repeat an element <array>'],
    [
      Type.Refine(
        Type.String(),
        () => false,
        () => 'The value must please us',
      ),
      'x',
      'The value must please us <string:x>',
    ],
  ])('case %#: %j', (schema, x, text) => {
    expect(formatViolations(optional(schema), { x })).toEqual([`request body.x: ${text}`]);
  });

  it('reports missing and unknown members', () => {
    const schema = Type.Object({ a: Type.String(), b: Type.String() }, { additionalProperties: false });
    expect(formatViolations(schema, { a: 'x', c: 1 })).toContain('request body.b: The value is required <missing>');
    expect(formatViolations(schema, { a: 'x', b: 'x', c: 1 })).toEqual(['request body.c: Unknown member <number:1>']);
    expect(formatViolations(schema, { a: 'x', b: 'x', c: '1' }, 'query')).toEqual([
      'query.c: Unknown parameter <string:1>',
    ]);
  });

  it('reports the body itself', () => {
    expect(formatViolations(Type.Object({}), 'text')).toEqual([
      'request body: The value must be an object <string:text>',
    ]);
  });

  it('reports paths inside lists, and members with unusual names', () => {
    const schema = Type.Object({ list: Type.Array(Type.Object({ 'a/b~c': Type.Number() })) });
    expect(formatViolations(schema, { list: [{ 'a/b~c': 1 }, { 'a/b~c': 'x' }] })).toEqual([
      'request body.list[1].a/b~c: The value must be a number <string:x>',
    ]);
    expect(formatViolations(schema, { list: [{ 'a/b~c': 'x' }] }, '')).toEqual([
      'list[0].a/b~c: The value must be a number <string:x>',
    ]);
  });

  it('never contains the values in hashData', () => {
    const schema = Type.Object({ hashData: Type.Object({ keySecretHash: Type.String({ maxLength: 3 }) }) });
    const text = formatViolations(schema, { hashData: { keySecretHash: 'secret' } });
    expect(text).toEqual(['request body.hashData.keySecretHash: The value must have at most 3 characters <string>']);
  });

  it('describes a pattern by its rule', () => {
    const schema = optional(PatternText(/^\d+$/, 'The value must be a number of digits', 'Digits'));
    expect(formatViolations(schema, { x: 'a' })).toEqual([
      'request body.x: The value must be a number of digits <string:a>',
    ]);
    expect(formatViolations(schema, { x: '1' })).toEqual([]);
  });

  it('lists every invalid member once, in the order of the schema', () => {
    const field = Type.Optional(Type.Integer({ minimum: 1, maximum: 20, multipleOf: 2 }));
    const names = ['a', 'b', 'c', 'd'] as const;
    const schema = Type.Object({ a: field, b: field, c: field, d: field });
    const anything = fc.oneof(
      fc.integer({ min: -5, max: 30 }),
      fc.double(),
      fc.string(),
      fc.constant(null),
      fc.constant({}),
      fc.constant([]),
    );
    const isFormatted = (value: unknown) =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 20 && Number(value) % 2 === 0;
    fc.assert(
      fc.property(fc.record({ a: anything, b: anything, c: anything, d: anything }, { requiredKeys: [] }), (body) => {
        const expected = names
          .filter((name) => name in body && !isFormatted(body[name]))
          .map((name) => [`request body.${name}`, body[name]]);
        expect(listViolations(schema, body, 'request body').map(({ path, value }) => [path, value])).toEqual(expected);
      }),
    );
  });
});

describe('M3: a formatted value', () => {
  it.each<[unknown, string]>([
    [32, '<number:32>'],
    [Number.POSITIVE_INFINITY, '<number:Infinity>'],
    ['abc', '<string:abc>'],
    ['', '<string:>'],
    [false, '<boolean:false>'],
    [null, '<null>'],
    [undefined, '<missing>'],
    [MISSING, '<missing>'],
    [[1, 2], '<array>'],
    [{ a: 1 }, '<object>'],
  ])('%j is %s', (value, text) => {
    expect(formatValue(value)).toBe(text);
  });

  it('is truncated to 64 characters, without splitting one, and is well-formed', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'grapheme', maxLength: 200 }),
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc.string({ unit: fc.constantFrom('😀', '\ud83d', 'x'), minLength: 60 }),
        ),
        (text) => {
          const inside = formatValue(text).slice('<string:'.length, -1);
          expect(inside.isWellFormed()).toBe(true);
          expect(inside).toBe([...text].slice(0, 64).join('').toWellFormed());
        },
      ),
    );
  });

  it('is only the kind of a secret', () => {
    expect(formatViolation({ path: 'a', rule: 'No', value: 'hunter2', secret: true })).toBe('a: No <string>');
  });
});

describe('M3: listing violations', () => {
  const schema = Type.Object({ list: Type.Array(Type.Object({ x: Type.Number() }), { maxItems: 1000 }) });

  it('stops at the maximum, without reading the rest of the value', () => {
    let reads = 0;
    const element = {
      get x() {
        reads++;
        return 'no';
      },
    };
    const violations = listViolations(schema, { list: Array.from({ length: 1000 }, () => element) }, '', 5);
    expect(violations.map(({ path }) => path)).toEqual([0, 1, 2, 3, 4].map((index) => `list[${index}].x`));
    expect(reads).toBeLessThan(100);
  });

  it('reports a list that is too long once, without reading its elements', () => {
    const list = Array.from({ length: 1001 }, () => ({
      get x(): number {
        throw new Error('read');
      },
    }));
    expect(listViolations(schema, { list }, '').map(formatViolation)).toEqual([
      'list: The list must have at most 1000 elements <array>',
    ]);
  });

  it('finds the one invalid element of a long list', () => {
    const list = Array.from({ length: 1000 }, (_, x) => ({ x: x === 999 ? null : x }));
    expect(listViolations(schema, { list }, '').map(({ path }) => path)).toEqual(['list[999].x']);
  });
});

describe('M3: rejecting violations', () => {
  it('does nothing without violations; several become one error, joined by "; "', () => {
    expect(() => rejectViolations([])).not.toThrow();
    const violations = [
      { path: 'a', rule: 'First', value: 1 },
      { path: 'b', rule: 'Second', value: MISSING },
    ];
    expect(() => rejectViolations(violations)).toThrow(
      expect.objectContaining({ code: 'bad_request', message: 'a: First <number:1>; b: Second <missing>', violations }),
    );
  });
});
