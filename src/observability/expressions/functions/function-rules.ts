import { asNumber, type Expression, getKind, isNullLiteral, timeLiteral } from '../expression.ts';
import { condition } from '../operators.ts';
import { parseMoment } from '../time-literal.ts';

/** Validates and converts one parameter of a function. */
export interface ParameterRule {
  /** Ends the sentence "… expects". */
  expects: string;
  /** The converted operand, or undefined if it is not allowed. */
  accept(operand: Expression): Expression | undefined;
}

const rule = (expects: string, accept: ParameterRule['accept']): ParameterRule => ({ expects, accept });
const when = (expects: string, fits: (operand: Expression) => boolean) =>
  rule(expects, (operand) => (fits(operand) ? operand : undefined));

const SCALARS = new Set(['string', 'number', 'boolean', 'time']);

export const text = when('a string', (operand) => getKind(operand) === 'string');
export const number = rule('a number', (operand) => {
  if (getKind(operand) === 'string') return asNumber(operand);
  return getKind(operand) === 'number' ? operand : undefined;
});
export const time = rule("a time, such as a time column or '2026-11-15 12:00:00'", (operand) => {
  if (operand.node !== 'literal' || typeof operand.value !== 'string') {
    return getKind(operand) === 'time' ? operand : undefined;
  }
  if (getKind(operand) === 'time') return operand;
  const moment = parseMoment(operand.value);
  return moment && timeLiteral(moment.text);
});
/** ClickHouse rejects these functions for dates. */
export const hours = rule('a time that has hours', (operand) =>
  operand.type.isDay ? undefined : time.accept(operand),
);
export const scalar = when('a string, number, time or boolean', (operand) => SCALARS.has(getKind(operand)));
export const scalarOrNull = when(
  'a string, number, time, boolean or NULL',
  (operand) => isNullLiteral(operand) || SCALARS.has(getKind(operand)),
);
export const anything = when('a value', () => true);
export const array = when('an array', (operand) => getKind(operand) === 'array');
export const map = when('a map', (operand) => getKind(operand) === 'map');
export const sized = when('a string, an array or a map', (operand) =>
  ['string', 'array', 'map'].includes(getKind(operand)),
);

/** Array elements are not converted, so strings that look like numbers are rejected. */
export const numbers = when(
  'an array of numbers',
  (operand) => getKind(operand) === 'array' && operand.type.element?.kind === 'number',
);
export const texts = when(
  'an array of strings',
  (operand) => getKind(operand) === 'array' && operand.type.element?.kind === 'string',
);

export const boolean = rule('a condition', (operand) => {
  if (getKind(operand) === 'boolean') return operand;
  return getKind(operand) === 'number' ? condition({ value: operand, at: 0 }) : undefined;
});

function literalText(operand: Expression): string | undefined {
  return operand.node === 'literal' && getKind(operand) === 'string' && typeof operand.value === 'string'
    ? operand.value
    : undefined;
}

/** A quoted string of a bounded length. */
export function quotedText(maxLength: number, minLength = 0): ParameterRule {
  return when(`a quoted string of ${minLength} to ${maxLength} characters`, (operand) => {
    const value = literalText(operand);
    return value !== undefined && value.length >= minLength && value.length <= maxLength;
  });
}

export function oneOf(values: readonly string[]): ParameterRule {
  return when(`one of '${values.join("', '")}'`, (operand) => values.includes(literalText(operand) ?? ''));
}

/** An integer literal. */
export function whole(min: number, max: number): ParameterRule {
  return when(`a whole number from ${min} to ${max}`, (operand) => {
    const value = operand.node === 'literal' ? operand.value : undefined;
    return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  });
}

const MAX_PATTERN_CHARACTERS = 1000;
/** Syntax that RE2 does not support. */
const NOT_RE2 = /\(\?(<?[=!]|>)|\\[1-9]/;

/** RE2 matches in linear time for every pattern; the length limit bounds the cost of compiling it. */
export const pattern = when(
  `a quoted RE2 pattern of 1 to ${MAX_PATTERN_CHARACTERS} characters, without look-around and back-references`,
  (operand) => {
    const value = literalText(operand);
    return value !== undefined && value !== '' && value.length <= MAX_PATTERN_CHARACTERS && !NOT_RE2.test(value);
  },
);

export const timezone = when("the quoted name of a time zone, such as 'Europe/Berlin'", (operand) => {
  const name = literalText(operand);
  if (name === undefined || !/^[A-Z][A-Za-z0-9_+/-]{1,63}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
});
