import { createBudget } from '../budget.ts';
import { checkText } from '../characters.ts';
import type { Expression } from '../expression.ts';
import { ExpressionError } from '../expression-error.ts';
import { condition, type Positioned } from '../operators.ts';
import type { Scope } from '../scope.ts';
import { createLexer } from './lexer.ts';
import { createSqlParser } from './sql-parser.ts';

/** One SQL value, such as the `field` of a series or an entry of its `groupBy`. */
export function parseValue(text: string, scope: Scope): Expression {
  checkText(text);
  if (text.trim() === '') throw new ExpressionError('An expression is missing', 0);
  return parse(text, scope).value;
}

/** A `where` in SQL; undefined if it is blank. */
export function parseCondition(text: string, scope: Scope): Expression | undefined {
  checkText(text);
  return text.trim() === '' ? undefined : condition(parse(text, scope));
}

function parse(text: string, scope: Scope): Positioned {
  const parser = createSqlParser(createLexer(text), scope, createBudget());
  return parser.whole();
}
