import { MAX_LIST_VALUES } from '../budget.ts';
import { booleanLiteral, getKind, type Literal, NULL, numberLiteral, textLiteral } from '../expression.ts';
import { ExpressionError } from '../expression-error.ts';
import { buildCall } from '../functions/function-call.ts';
import { compare, minus, type Positioned } from '../operators.ts';
import { findPath, mapEntry, resolvePath } from '../scope.ts';
import type { Token } from './lexer.ts';
import { isKeyword, type SqlParser } from './sql-grammar.ts';
import { explainWord, unexpected } from './syntax-errors.ts';

/** A literal, column, function call, CASE or parenthesized expression, optionally indexed with brackets. */
export function parsePrimary(parser: SqlParser): Positioned {
  let positioned = start(parser);
  while (parser.symbol('[')) positioned = subscript(parser, positioned);
  return positioned;
}

function start(parser: SqlParser): Positioned {
  const token = parser.take();
  parser.budget.spend(token.start);
  const at = token.start;
  if (token.type === 'number') return { value: numberLiteral(token.value), at };
  if (token.type === 'string') return { value: textLiteral(token.value), at };
  if (token.type === 'word') return word(parser, token.text, at);
  if (token.type === 'path') return { value: resolvePath(parser.scope, token.text, at), at };
  if (token.type === 'symbol' && token.text === '(') {
    const inner = parser.expression();
    parser.expectSymbol(')');
    return { value: inner.value, at };
  }
  throw token.type === 'end' ? unexpected(token, 'A value') : new ExpressionError('A value is missing here', at);
}

function word(parser: SqlParser, text: string, at: number): Positioned {
  const upper = text.toUpperCase();
  const following = parser.peek();
  const isCall = following.type === 'symbol' && following.text === '(' && upper !== 'CASE';
  if (isCall && !explainWord(text)) return functionCall(parser, text, at);
  if (upper === 'TRUE' || upper === 'FALSE') return { value: booleanLiteral(upper === 'TRUE'), at };
  if (upper === 'NULL') return { value: NULL, at };
  if (findPath(parser.scope, text)) return { value: resolvePath(parser.scope, text, at), at };
  if (upper === 'CASE') return choice(parser, at);
  if (upper === 'INTERVAL') return interval(parser, at);
  const rejection = explainWord(text);
  if (rejection) throw new ExpressionError(rejection, at);
  return { value: resolvePath(parser.scope, text, at), at };
}

function functionCall(parser: SqlParser, name: string, at: number): Positioned {
  parser.expectSymbol('(');
  const operands: Positioned[] = [];
  if (!parser.symbol(')')) {
    do operands.push(parser.expression());
    while (parser.symbol(','));
    parser.expectSymbol(')');
  }
  return { value: buildCall(name, operands, at), at };
}

function subscript(parser: SqlParser, { value, at }: Positioned): Positioned {
  const index = parser.peek().start;
  parser.budget.spend(index);
  const inner = parser.expression();
  parser.expectSymbol(']');
  if (getKind(value) === 'array') return { value: buildCall('arrayElement', [{ value, at }, inner], at), at };
  if (getKind(value) !== 'map') throw new ExpressionError('Only maps and arrays can be indexed', index);
  if (inner.value.node !== 'literal' || getKind(inner.value) !== 'string')
    throw new ExpressionError("The key of a map is a quoted string, such as ['http.method']", index);
  return { value: mapEntry(value, String(inner.value.value)), at };
}

/** `(1, 2, 3)`: literals only. */
export function parseList(parser: SqlParser): (Positioned & { value: Literal })[] {
  parser.expectSymbol('(');
  const values: (Positioned & { value: Literal })[] = [];
  do {
    const at = parser.peek().start;
    if (values.length === MAX_LIST_VALUES)
      throw new ExpressionError(`A list has at most ${MAX_LIST_VALUES} values`, at);
    parser.budget.spend(at);
    values.push({ value: listValue(parser), at });
  } while (parser.symbol(','));
  parser.expectSymbol(')');
  return values;
}

function listValue(parser: SqlParser): Literal {
  const isNegative = parser.symbol('-');
  const token: Token = parser.take();
  if (token.type === 'number') {
    const value = numberLiteral(token.value);
    const negated = isNegative ? minus({ value, at: token.start }) : value;
    return negated.node === 'literal' ? negated : value;
  }
  if (!isNegative && token.type === 'string') return textLiteral(token.value);
  if (!isNegative && (isKeyword(token, 'TRUE') || isKeyword(token, 'FALSE'))) {
    return booleanLiteral(isKeyword(token, 'TRUE'));
  }
  const rejection = token.type === 'word' ? explainWord(token.text) : undefined;
  throw new ExpressionError(rejection ?? 'IN expects a list of quoted strings or numbers', token.start);
}

function choice(parser: SqlParser, at: number): Positioned {
  const subject = isKeyword(parser.peek(), 'WHEN') ? undefined : parser.expression();
  // The subject is repeated for every WHEN, so it must be short.
  if (subject && subject.value.node !== 'column' && subject.value.node !== 'entry')
    throw new ExpressionError('CASE takes a column or an attribute here; otherwise use CASE WHEN', subject.at);
  const operands: Positioned[] = [];
  while (parser.keyword('WHEN')) {
    const when = parser.expression();
    operands.push(subject ? { value: compare('=', subject, when), at: when.at } : when);
    parser.expectKeyword('THEN');
    operands.push(parser.expression());
  }
  if (operands.length === 0) throw unexpected(parser.peek(), 'WHEN');
  operands.push(parser.keyword('ELSE') ? parser.expression() : { value: NULL, at });
  parser.expectKeyword('END');
  return { value: buildCall('multiIf', operands, at), at };
}

function interval(parser: SqlParser, at: number): Positioned {
  const isNegative = parser.symbol('-');
  const count = parser.take();
  if (count.type !== 'number') throw new ExpressionError('INTERVAL expects a number and a unit', count.start);
  const unit = parser.take();
  if (unit.type !== 'word') throw unexpected(unit, 'A unit such as HOUR');
  const name = unit.text.toLowerCase().replace(/s$/, '');
  if (!UNITS.has(name)) throw new ExpressionError(`A unit is one of ${[...UNITS].join(', ')}`, unit.start);
  const literal = numberLiteral(count.value);
  const value = isNegative ? minus({ value: literal, at: count.start }) : literal;
  return { value: buildCall(`toInterval${name}`, [{ value, at: count.start }], at), at };
}

const UNITS = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']);
