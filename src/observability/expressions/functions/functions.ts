import type { Expression } from '../expression.ts';
import type { Positioned } from '../operators.ts';
import { arrayType, BOOLEAN, DAY, NUMBER, nullable, OTHER, TEXT, TIME, type ValueType } from '../value-type.ts';
import {
  buildByKind,
  buildChoice,
  buildCoalesce,
  buildConcat,
  buildConversion,
  buildNullIf,
  buildNullTest,
  buildReplace,
  toText,
} from './function-builders.ts';
import {
  anything,
  array,
  boolean,
  hours,
  map,
  number,
  numbers,
  oneOf,
  type ParameterRule,
  pattern,
  quotedText,
  scalar,
  scalarOrNull,
  sized,
  text,
  texts,
  time,
  timezone,
  whole,
} from './function-rules.ts';

export interface FunctionSignature {
  /** As ClickHouse spells it. */
  name: string;
  required: readonly ParameterRule[];
  /** Optional parameters after the required ones. */
  optional: readonly ParameterRule[];
  /** Any number of further parameters. */
  repeated: ParameterRule | undefined;
  /** The type of the call, or a function that builds the expression. */
  result: ValueType | ((operands: readonly Positioned[], name: string) => Expression);
}

interface Extras {
  optional?: readonly ParameterRule[];
  repeated?: ParameterRule;
}

const TABLE = new Map<string, FunctionSignature>();

function allow(
  names: string,
  required: readonly ParameterRule[],
  result: FunctionSignature['result'],
  extras: Extras = {},
): void {
  for (const name of names.split(' ')) {
    TABLE.set(name.toLowerCase(), {
      name,
      required,
      optional: extras.optional ?? [],
      repeated: extras.repeated,
      result,
    });
  }
}

function alias(names: string, target: string): void {
  const rules = TABLE.get(target.toLowerCase());
  if (rules) for (const name of names.split(' ')) TABLE.set(name.toLowerCase(), rules);
}

/** Function names are case-insensitive. */
export function findFunction(name: string): FunctionSignature | undefined {
  return TABLE.get(name.toLowerCase());
}

export function functionNames(): string[] {
  return [...new Set([...TABLE.values()].map(({ name }) => name))];
}

const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
const OFFSET = whole(-1_000_000, 1_000_000);
const SEPARATOR = quotedText(16, 1);

// Strings
allow('lower upper lowerUTF8 upperUTF8 trim trimLeft trimRight reverse', [text], TEXT);
allow('domain domainWithoutWWW topLevelDomain path pathFull protocol queryString cutQueryString', [text], TEXT);
allow('length empty notEmpty', [sized], (operands, name) =>
  buildByKind(operands, name, name === 'length' ? NUMBER : BOOLEAN),
);
allow('lengthUTF8', [text], NUMBER);
allow('position positionCaseInsensitive positionUTF8 countSubstrings', [text, text], NUMBER);
allow('startsWith endsWith', [text, text], BOOLEAN);
allow('hasToken hasTokenCaseInsensitive', [text, token()], BOOLEAN);
allow('substring substringUTF8', [text, OFFSET], TEXT, { optional: [whole(0, 1_000_000)] });
allow('match', [text, pattern], BOOLEAN);
allow('extract', [text, pattern], TEXT);
allow('replaceOne replaceAll', [text, quotedText(200, 1), quotedText(200)], buildReplace);
allow('concat', [scalar, scalar], buildConcat, { repeated: scalar });
allow('splitByChar', [quotedText(1, 1), text], arrayType(TEXT));
allow('JSONExtractString JSONExtractRaw', [text], TEXT, { repeated: quotedText(200, 1) });
allow('JSONExtractInt JSONExtractUInt JSONExtractFloat', [text], NUMBER, { repeated: quotedText(200, 1) });
allow('JSONExtractBool JSONHas isValidJSON', [text], BOOLEAN, { repeated: quotedText(200, 1) });

// Arrays and maps
allow('has', [array, scalar], (operands, name) => buildByKind(operands, name, BOOLEAN));
allow('arraySum arrayMin arrayMax arrayAvg', [numbers], NUMBER);
allow('arrayElement', [array, nonZero()], (operands, name) => buildByKind(operands, name, OTHER));
allow('arrayStringConcat', [texts], TEXT, { optional: [SEPARATOR] });
allow('mapContains', [map, text], BOOLEAN);
allow('mapKeys', [map], arrayType(TEXT));
allow('mapValues', [map], (operands, name) => buildByKind(operands, name, OTHER));

// Numbers
allow('abs ceil floor trunc sign sqrt exp log log2 log10', [number], NUMBER);
allow('round', [number], NUMBER, { optional: [whole(-30, 30)] });
allow('isFinite isNaN', [number], BOOLEAN);
allow('cityHash64 xxHash64', [scalar], NUMBER, { repeated: scalar });
allow('greatest least', [scalar, scalar], (operands, name) => buildByKind(operands, name, OTHER), { repeated: scalar });

// Conversions
allow('toString', [anything], toText);
for (const type of 'Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64'.split(' ')) {
  allow(`to${type} to${type}OrNull to${type}OrZero`, [scalar], buildConversion);
}

// Times
const IN_ZONE = { optional: [timezone] };
allow('now', [], TIME);
allow('today yesterday', [], DAY);
allow('toDateTime', [time], TIME);
allow('toDate', [time], DAY, IN_ZONE);
allow('toDateOrNull', [text], nullable(DAY));
allow('toDateTimeOrNull parseDateTimeBestEffortOrNull', [text], nullable(TIME));
allow('toYear toQuarter toMonth toDayOfYear toDayOfMonth', [time], NUMBER, IN_ZONE);
allow('toHour toMinute toSecond', [hours], NUMBER, IN_ZONE);
allow('toDayOfWeek', [time], NUMBER, { optional: [whole(0, 3), timezone] });
allow('toISOWeek', [time], NUMBER);
allow('toStartOfMinute toStartOfFiveMinutes toStartOfTenMinutes', [hours], TIME, IN_ZONE);
allow('toStartOfFifteenMinutes toStartOfHour', [hours], TIME, IN_ZONE);
allow('toStartOfDay', [time], TIME, IN_ZONE);
allow('toMonday toStartOfMonth toStartOfQuarter toStartOfYear', [time], DAY, IN_ZONE);
allow('toStartOfWeek', [time], DAY, { optional: [whole(0, 9), timezone] });
allow('toUnixTimestamp', [time], NUMBER);
allow('dateDiff', [oneOf(UNITS), time, time], NUMBER, { optional: [timezone] });
allow('formatDateTime', [time, quotedText(100, 1)], TEXT, { optional: [timezone] });
for (const unit of UNITS) allow(`toInterval${unit.charAt(0).toUpperCase()}${unit.slice(1)}`, [OFFSET], OTHER);

// Choices and NULL
allow('if', [boolean, scalarOrNull, scalarOrNull], buildChoice);
allow('multiIf', [boolean, scalarOrNull, scalarOrNull], buildChoice, { repeated: anything });
allow('coalesce', [scalarOrNull], buildCoalesce, { repeated: scalarOrNull });
allow('ifNull', [scalarOrNull, scalarOrNull], buildCoalesce);
allow('nullIf', [scalar, scalar], buildNullIf);
allow('isNull isNotNull', [anything], buildNullTest);

alias('substr mid', 'substring');
alias('lcase', 'lower');
alias('ucase', 'upper');
alias('ceiling', 'ceil');
alias('ltrim', 'trimLeft');
alias('rtrim', 'trimRight');
alias('char_length character_length', 'lengthUTF8');
alias('year', 'toYear');
alias('month', 'toMonth');
alias('hour', 'toHour');
alias('minute', 'toMinute');
alias('second', 'toSecond');
alias('dayOfWeek', 'toDayOfWeek');
alias('mapContainsKey', 'mapContains');
alias('replace', 'replaceAll');

/** ClickHouse rejects a token that contains a separator. */
function token(): ParameterRule {
  const base = quotedText(200, 1);
  return {
    expects: 'one quoted word of letters and digits',
    accept(operand) {
      const accepted = base.accept(operand);
      return accepted?.node === 'literal' && /^[0-9A-Za-z\u0080-\u{10ffff}]+$/u.test(String(accepted.value))
        ? accepted
        : undefined;
    },
  };
}

/** Positions in arrays start at 1, or at -1 from the end. */
function nonZero(): ParameterRule {
  const base = whole(-1_000_000, 1_000_000);
  return {
    expects: 'a whole number other than 0',
    accept: (operand) => (operand.node === 'literal' && operand.value === 0 ? undefined : base.accept(operand)),
  };
}
