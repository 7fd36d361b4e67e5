import { describe, expect, it } from 'vitest';
import { parseType } from './value-type.ts';

const string = { kind: 'string', nullable: false };
const number = { kind: 'number', nullable: false };
const time = { kind: 'time', nullable: false };
const other = { kind: 'other', nullable: false };

describe('parseType', () => {
  it.each([
    ['String', string],
    ['LowCardinality(String)', string],
    ['LowCardinality(Nullable(String))', { ...string, nullable: true }],
    ['FixedString(16)', { ...string, needsToString: true }],
    ["Enum8('a(,' = 1, 'b' = 2)", { ...string, needsToString: true }],
    ['UUID', { ...string, needsToString: true }],
    ['UInt64', number],
    ['Nullable(Float64)', { ...number, nullable: true }],
    ['Decimal(18, 4)', number],
    ['Bool', { kind: 'boolean', nullable: false }],
    ['DateTime', time],
    ["DateTime64(9, 'Europe/Berlin')", time],
    ['Date32', { ...time, isDay: true }],
    ['Map(LowCardinality(String), String)', { kind: 'map', nullable: false, element: string }],
    [
      'Map(String, Array(UInt8))',
      { kind: 'map', nullable: false, element: { kind: 'array', nullable: false, element: number } },
    ],
    ['Map(UInt8, String)', other],
    [
      'Array(Map(LowCardinality(String), String))',
      { kind: 'array', nullable: false, element: { kind: 'map', nullable: false, element: string } },
    ],
    ['Array(UUID)', { kind: 'array', nullable: false, element: other }],
    ['Tuple(UInt8, String)', other],
    ['AggregateFunction(sum, UInt64)', other],
    ['JSON', other],
    ['Map(', other],
    ['', other],
    ['Array('.repeat(50), { kind: 'array' }],
  ])('parses %s', (type, expected) => {
    expect(parseType(type)).toMatchObject(expected);
  });
});
