import { describe, expect, it } from 'vitest';
import { parseType } from './value-type.ts';

const text = { kind: 'string', nullable: false };
const number = { kind: 'number', nullable: false };
const time = { kind: 'time', nullable: false };
const other = { kind: 'other', nullable: false };

describe('types', () => {
  it.each([
    ['String', text],
    ['LowCardinality(String)', text],
    ['LowCardinality(Nullable(String))', { ...text, nullable: true }],
    ['FixedString(16)', { ...text, needsToString: true }],
    ["Enum8('a(,' = 1, 'b' = 2)", { ...text, needsToString: true }],
    ['UUID', { ...text, needsToString: true }],
    ['UInt64', number],
    ['Nullable(Float64)', { ...number, nullable: true }],
    ['Decimal(18, 4)', number],
    ['Bool', { kind: 'boolean', nullable: false }],
    ['DateTime', time],
    ["DateTime64(9, 'Europe/Berlin')", time],
    ['Date32', { ...time, isDay: true }],
    ['Map(LowCardinality(String), String)', { kind: 'map', nullable: false, element: text }],
    [
      'Map(String, Array(UInt8))',
      { kind: 'map', nullable: false, element: { kind: 'array', nullable: false, element: number } },
    ],
    ['Map(UInt8, String)', other],
    [
      'Array(Map(LowCardinality(String), String))',
      { kind: 'array', nullable: false, element: { kind: 'map', nullable: false, element: text } },
    ],
    ['Array(UUID)', { kind: 'array', nullable: false, element: other }],
    ['Tuple(UInt8, String)', other],
    ['AggregateFunction(sum, UInt64)', other],
    ['JSON', other],
    ['Map(', other],
    ['', other],
    ['Array('.repeat(50), { kind: 'array' }],
  ])('parses %s', (written, expected) => {
    expect(parseType(written)).toMatchObject(expected);
  });
});
