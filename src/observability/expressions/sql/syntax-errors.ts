import { ExpressionError } from '../expression-error.ts';
import { functionNames } from '../functions/functions.ts';
import { findNearest } from '../nearest-name.ts';
import { quoted } from '../scope.ts';
import type { Token } from './lexer.ts';

/** SQL keywords that are not supported in expressions. */
const REJECTED_WORDS = new Map([
  ['AS', 'Aliases are not allowed'],
  ['SELECT', 'Sub-selects are not allowed'],
  ['WITH', 'Sub-selects are not allowed'],
  ['FROM', 'Only an expression is allowed, not a query'],
  ['WHERE', 'Only an expression is allowed, not a query'],
  ['UNION', 'Only one expression is allowed'],
  ['EXISTS', 'Sub-selects are not allowed'],
  ['CAST', 'CAST is not allowed; use a function such as toFloat64OrNull'],
  ['OVER', 'Window functions are not allowed'],
  ['SETTINGS', 'Settings are not allowed'],
  ['FORMAT', 'An output format is not allowed'],
  ['INTO', 'Output into a file is not allowed'],
  ['GLOBAL', 'GLOBAL is not allowed'],
  ['DISTINCT', 'DISTINCT is not allowed'],
]);

function findRejection(word: string): string | undefined {
  return REJECTED_WORDS.get(word.toUpperCase());
}

/** Explains why a word is not a value. Undefined if it may be one. */
export function explainWord(word: string): string | undefined {
  return findRejection(word) ?? (KEYWORDS.has(word.toUpperCase()) ? `A value is missing before ${word}` : undefined);
}

const KEYWORDS = new Set('AND OR LIKE ILIKE IN BETWEEN IS WHEN THEN ELSE END'.split(' '));

/** The error for a token that is not allowed at its position. */
export function unexpected(token: Token, expected: string): ExpressionError {
  if (token.type === 'end') return new ExpressionError(`${expected} is missing at the end`, token.start);
  if (token.type === 'word') {
    const rejection = findRejection(token.text);
    return new ExpressionError(rejection ?? `${quoted(token.text)} is not allowed here`, token.start);
  }
  if (token.type === 'symbol') return new ExpressionError(`"${token.text}" is not allowed here`, token.start);
  return new ExpressionError(`An operator such as = or AND is missing before this`, token.start);
}

export function unknownFunction(name: string, at: number): ExpressionError {
  const near = findNearest(name, functionNames());
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return new ExpressionError(`The function ${quoted(name)} is not allowed${hint}`, at);
}
