import type { Expression } from './expression.ts';
import {
  choices,
  coalesced,
  converted,
  isPresent,
  joined,
  nullIf,
  replaced,
  sameKind,
  shown,
} from './function-results.ts';
import {
  anything,
  array,
  boolean,
  hours,
  map,
  number,
  numbers,
  oneOf,
  pattern,
  quotedText,
  type Rule,
  scalar,
  scalarOrNull,
  sized,
  text,
  texts,
  time,
  timezone,
  whole,
} from './function-rules.ts';
import type { Placed } from './operators.ts';
import { arrayOf, BOOLEAN, DAY, NUMBER, nullable, OTHER, TEXT, TIME, type ValueType } from './value-type.ts';

export interface FunctionRules {
  /** As ClickHouse spells it. */
  name: string;
  takes: readonly Rule[];
  /** May be left out, from the right. */
  optional: readonly Rule[];
  /** Any number of these may follow. */
  more: Rule | undefined;
  /** The type of the call, or the whole expression that the call becomes. */
  gives: ValueType | ((operands: readonly Placed[], name: string) => Expression);
}

interface Extras {
  optional?: readonly Rule[];
  more?: Rule;
}

const TABLE = new Map<string, FunctionRules>();

function allow(names: string, takes: readonly Rule[], gives: FunctionRules['gives'], extras: Extras = {}): void {
  for (const name of names.split(' ')) {
    TABLE.set(name.toLowerCase(), { name, takes, optional: extras.optional ?? [], more: extras.more, gives });
  }
}

function alias(names: string, of: string): void {
  const rules = TABLE.get(of.toLowerCase());
  if (rules) for (const name of names.split(' ')) TABLE.set(name.toLowerCase(), rules);
}

/** Function names are taken in any letter case, as SQL people write them. */
export function findFunction(name: string): FunctionRules | undefined {
  return TABLE.get(name.toLowerCase());
}

export function functionNames(): string[] {
  return [...new Set([...TABLE.values()].map(({ name }) => name))];
}

const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
const OFFSET = whole(-1_000_000, 1_000_000);
const SEPARATOR = quotedText(16, 1);

// Texts
allow('lower upper lowerUTF8 upperUTF8 trim trimLeft trimRight reverse', [text], TEXT);
allow('domain domainWithoutWWW topLevelDomain path pathFull protocol queryString cutQueryString', [text], TEXT);
allow('length empty notEmpty', [sized], (operands, name) =>
  sameKind(operands, name, name === 'length' ? NUMBER : BOOLEAN),
);
allow('lengthUTF8', [text], NUMBER);
allow('position positionCaseInsensitive positionUTF8 countSubstrings', [text, text], NUMBER);
allow('startsWith endsWith', [text, text], BOOLEAN);
allow('hasToken hasTokenCaseInsensitive', [text, token()], BOOLEAN);
allow('substring substringUTF8', [text, OFFSET], TEXT, { optional: [whole(0, 1_000_000)] });
allow('match', [text, pattern], BOOLEAN);
allow('extract', [text, pattern], TEXT);
allow('replaceOne replaceAll', [text, quotedText(200, 1), quotedText(200)], replaced);
allow('concat', [scalar, scalar], joined, { more: scalar });
allow('splitByChar', [quotedText(1, 1), text], arrayOf(TEXT));
allow('JSONExtractString JSONExtractRaw', [text], TEXT, { more: quotedText(200, 1) });
allow('JSONExtractInt JSONExtractUInt JSONExtractFloat', [text], NUMBER, { more: quotedText(200, 1) });
allow('JSONExtractBool JSONHas isValidJSON', [text], BOOLEAN, { more: quotedText(200, 1) });

// Arrays and maps
allow('has', [array, scalar], (operands, name) => sameKind(operands, name, BOOLEAN));
allow('arraySum arrayMin arrayMax arrayAvg', [numbers], NUMBER);
allow('arrayElement', [array, nonZero()], (operands, name) => sameKind(operands, name, OTHER));
allow('arrayStringConcat', [texts], TEXT, { optional: [SEPARATOR] });
allow('mapContains', [map, text], BOOLEAN);
allow('mapKeys', [map], arrayOf(TEXT));
allow('mapValues', [map], (operands, name) => sameKind(operands, name, OTHER));

// Numbers
allow('abs ceil floor trunc sign sqrt exp log log2 log10', [number], NUMBER);
allow('round', [number], NUMBER, { optional: [whole(-30, 30)] });
allow('isFinite isNaN', [number], BOOLEAN);
allow('cityHash64 xxHash64', [scalar], NUMBER, { more: scalar });
allow('greatest least', [scalar, scalar], (operands, name) => sameKind(operands, name, OTHER), { more: scalar });

// From one kind to another
allow('toString', [anything], shown);
for (const type of 'Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64'.split(' ')) {
  allow(`to${type} to${type}OrNull to${type}OrZero`, [scalar], converted);
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
allow('if', [boolean, scalarOrNull, scalarOrNull], choices);
allow('multiIf', [boolean, scalarOrNull, scalarOrNull], choices, { more: anything });
allow('coalesce', [scalarOrNull], coalesced, { more: scalarOrNull });
allow('ifNull', [scalarOrNull, scalarOrNull], coalesced);
allow('nullIf', [scalar, scalar], nullIf);
allow('isNull isNotNull', [anything], isPresent);

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

/** One token in the engine's sense: it refuses a needle that holds a separator. */
function token(): Rule {
  const base = quotedText(200, 1);
  return {
    wants: 'one quoted word of letters and digits',
    take(operand) {
      const taken = base.take(operand);
      return taken?.node === 'literal' && /^[0-9A-Za-z\u0080-\u{10ffff}]+$/u.test(String(taken.value))
        ? taken
        : undefined;
    },
  };
}

/** Positions in arrays start at 1, or at -1 from the end. */
function nonZero(): Rule {
  const base = whole(-1_000_000, 1_000_000);
  return {
    wants: 'a whole number other than 0',
    take: (operand) => (operand.node === 'literal' && operand.value === 0 ? undefined : base.take(operand)),
  };
}
