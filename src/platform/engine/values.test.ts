import { describe, expect, it } from 'vitest';
import { convertRows, findConversion } from './values.ts';

const convert = (type: string, value: unknown) => convertRows([type], [[value]])[0]?.[0];

describe('values from JSON', () => {
  it.each([
    ['UInt64', '42', 42],
    ['Int64', '-42', -42],
    ['UInt64', '9007199254740991', 9007199254740991],
    ['UInt64', '9007199254740993', '9007199254740993'],
    ['Int128', '-5', -5],
    ['Nullable(UInt64)', null, null],
    ['LowCardinality(Nullable(UInt64))', '7', 7],
    ['Array(Array(Int64))', [['1'], ['2', '3']], [[1], [2, 3]]],
    ['Map(String, UInt64)', { a: '1', b: '18446744073709551615' }, { a: 1, b: '18446744073709551615' }],
    ['Tuple(UInt64, String)', ['1', '2'], [1, '2']],
    ['Tuple(a UInt64, b String, `c d` Array(UInt64))', { a: '1', b: '2', 'c d': ['3'] }, { a: 1, b: '2', 'c d': [3] }],
    ["Array(Tuple(Enum8('a,b' = 1, '(' = 2), UInt64))", [['a,b', '5']], [['a,b', 5]]],
    ['SimpleAggregateFunction(sum, UInt64)', '8', 8],
    ['String', '42', '42'],
    ['DateTime64(9)', '2026-01-01 00:00:00', '2026-01-01 00:00:00'],
    ['Float64', null, null],
  ])('%s: %j', (type, value, expected) => expect(convert(type, value)).toEqual(expected));

  it('are unchanged if they need no conversion', () => {
    for (const type of ['String', 'Float64', 'UInt32', 'Array(String)', 'Map(String, String)', 'Tuple(String, UInt8)'])
      expect(findConversion(type)).toBeUndefined();
  });
});
