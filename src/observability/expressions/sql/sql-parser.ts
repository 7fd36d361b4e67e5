import type { Budget } from '../budget.ts';
import { type ArithmeticOperator, type ComparisonOperator, type Expression, getKind } from '../expression.ts';
import { ExpressionError } from '../expression-error.ts';
import { buildConcat } from '../functions/function-builders.ts';
import { buildCall } from '../functions/function-call.ts';
import {
  arithmetic,
  between,
  compare,
  condition,
  isIn,
  like,
  logical,
  minus,
  not,
  type Positioned,
} from '../operators.ts';
import type { Scope } from '../scope.ts';
import type { Token } from './lexer.ts';
import { isKeyword, type SqlParser } from './sql-grammar.ts';
import { parseList, parsePrimary } from './sql-primary.ts';
import { unexpected } from './syntax-errors.ts';

const COMPARISONS: Record<string, ComparisonOperator> = {
  '=': '=',
  '==': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/** The grammar of an SQL expression, with the precedence that ClickHouse gives its operators. */
export function createSqlParser(next: () => Token, scope: Scope, budget: Budget): SqlParser {
  let current = next();

  const parser: SqlParser = {
    scope,
    budget,
    peek: () => current,
    take() {
      const taken = current;
      current = next();
      return taken;
    },
    symbol(text) {
      const found = current.type === 'symbol' && current.text === text;
      if (found) parser.take();
      return found;
    },
    keyword(word) {
      const found = isKeyword(current, word);
      if (found) parser.take();
      return found;
    },
    expectSymbol(text) {
      if (!parser.symbol(text)) throw unexpected(current, `"${text}"`);
    },
    expectKeyword(word) {
      if (!parser.keyword(word)) throw unexpected(current, word);
    },
    expression: () => budget.nest(current.start, disjunction),
    whole() {
      const positioned = parser.expression();
      if (current.type !== 'end') throw unexpected(current, 'The end');
      return positioned;
    },
  };
  return parser;

  function positioned(at: number, value: Expression): Positioned {
    budget.spend(at);
    return { value, at };
  }

  function chain(word: 'AND' | 'OR', operand: () => Positioned): Positioned {
    const first = operand();
    if (!isKeyword(current, word)) return first;
    const conditions = [condition(first)];
    while (parser.keyword(word)) conditions.push(condition(operand()));
    return positioned(first.at, logical(word, conditions));
  }

  function disjunction(): Positioned {
    return chain('OR', conjunction);
  }

  function conjunction(): Positioned {
    return chain('AND', negation);
  }

  function negation(): Positioned {
    const at = current.start;
    if (!parser.keyword('NOT')) return predicate();
    return positioned(at, not(condition(budget.nest(at, negation))));
  }

  /** Comparisons, IS NULL, LIKE, IN and BETWEEN. They associate to the left, as in ClickHouse. */
  function predicate(): Positioned {
    return leftToRight(concatenation, predicateStep);
  }

  function predicateStep(left: Positioned): Expression | undefined {
    if (current.type === 'symbol') return comparison(left, current.text);
    if (parser.keyword('IS')) {
      const isNegated = parser.keyword('NOT');
      parser.expectKeyword('NULL');
      return buildCall(isNegated ? 'isNotNull' : 'isNull', [left], left.at);
    }
    const isNegated = parser.keyword('NOT');
    const found = membership(left);
    if (!found && isNegated) throw unexpected(current, 'LIKE, IN or BETWEEN');
    return found && isNegated ? not(found) : found;
  }

  function comparison(left: Positioned, symbol: string): Expression | undefined {
    const operator = COMPARISONS[symbol];
    if (operator === undefined) return undefined;
    parser.take();
    return compare(operator, left, concatenation());
  }

  function membership(left: Positioned): Expression | undefined {
    if (parser.keyword('BETWEEN')) {
      const low = concatenation();
      parser.expectKeyword('AND');
      return between(left, low, concatenation());
    }
    if (parser.keyword('IN')) return isIn(left, parseList(parser));
    const ignoreCase = isKeyword(current, 'ILIKE');
    return parser.keyword('LIKE') || parser.keyword('ILIKE') ? matching(left, ignoreCase) : undefined;
  }

  function matching(left: Positioned, ignoreCase: boolean): Expression {
    const pattern = parser.take();
    if (pattern.type !== 'string') throw new ExpressionError('LIKE expects a quoted pattern', pattern.start);
    if (/(?<!\\)(\\\\)*\\$/.test(pattern.value))
      throw new ExpressionError('A pattern cannot end in a single backslash', pattern.start);
    if (getKind(left.value) !== 'string') throw new ExpressionError('LIKE only compares strings', left.at);
    return like(left.value, pattern.value, ignoreCase);
  }

  function concatenation(): Positioned {
    return leftToRight(sum, (left) => (parser.symbol('||') ? buildConcat([left, sum()]) : undefined));
  }

  function sum(): Positioned {
    return leftToRight(product, (left) => calculation(left, ['+', '-'], product));
  }

  function product(): Positioned {
    return leftToRight(unary, (left) => calculation(left, ['*', '/', '%'], unary));
  }

  function calculation(
    left: Positioned,
    among: ArithmeticOperator[],
    operand: () => Positioned,
  ): Expression | undefined {
    const operator = among.find((symbol) => parser.symbol(symbol));
    return operator && arithmetic(operator, left, operand());
  }

  function unary(): Positioned {
    const at = current.start;
    if (!parser.symbol('-')) return parsePrimary(parser);
    return positioned(at, minus(budget.nest(at, unary)));
  }

  /** Each step adds a level to the tree, so it counts against the depth limit. */
  function leftToRight(operand: () => Positioned, step: (left: Positioned) => Expression | undefined): Positioned {
    const left = operand();
    const value = step(left);
    if (!value) return left;
    return budget.nest(left.at, () => leftToRight(() => positioned(left.at, value), step));
  }
}
