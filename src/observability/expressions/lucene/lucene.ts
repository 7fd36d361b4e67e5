import { createBudget } from '../budget.ts';
import { checkText } from '../characters.ts';
import { booleanLiteral, type ComparisonOperator, type Expression, isNullable } from '../expression.ts';
import { ExpressionError, UnknownColumnError } from '../expression-error.ts';
import { logical, not } from '../operators.ts';
import { findNearColumn, quoted, type Scope, unknownColumn } from '../scope.ts';
import { BOOLEAN } from '../value-type.ts';
import { createLuceneLexer, hasWildcards, type Word, withoutSingleWildcards } from './lucene-lexer.ts';
import {
  compareField,
  equalField,
  type Field,
  findField,
  getImplicitColumn,
  matchField,
  matchPhrase,
  matchWord,
  rangeField,
} from './lucene-terms.ts';

/** Column names are shorter. */
const MAX_NAME_CHARACTERS = 200;

/** A `where` in Lucene; undefined if it is blank. */
export function parseLucene(text: string, scope: Scope): Expression | undefined {
  checkText(text);
  if (text.trim() === '') return undefined;
  return createLuceneParser(text, scope).whole();
}

function createLuceneParser(text: string, scope: Scope) {
  const lexer = createLuceneLexer(text);
  const budget = createBudget();

  return {
    whole(): Expression {
      const expression = disjunction(undefined);
      if (lexer.peek() === ')') throw new ExpressionError('This ")" has no matching "("', lexer.at());
      return expression;
    },
  };

  /** `field` is the column before the current parentheses: `field:(a OR b)`. */
  function disjunction(field: Field | undefined): Expression {
    const operands = [conjunction(field)];
    while (operator('OR', '||')) operands.push(conjunction(field));
    return logical('OR', operands);
  }

  function conjunction(field: Field | undefined): Expression {
    const operands = [negation(field)];
    for (;;) {
      const isNamed = operator('AND', '&&');
      if (!isNamed && (isAtEnd() || isOperator('OR', '||'))) return logical('AND', operands);
      operands.push(negation(field));
    }
  }

  function negation(field: Field | undefined): Expression {
    lexer.skipSpaces();
    const at = lexer.at();
    if (operator('NOT', '!')) return budget.nest(at, () => negateCondition(negation(field)));
    const sign = lexer.peek();
    if (sign !== '-' && sign !== '+') return term(field);
    // In a field's parentheses a minus before a digit belongs to the number.
    if (field && sign === '-' && /[0-9.]/.test(lexer.peek(1))) return term(field);
    if (/^[\s)]?$/.test(lexer.peek(1)))
      throw new ExpressionError(`"${sign}" must be followed by a word; escape it as \\${sign}`, at);
    lexer.advance(1);
    return budget.nest(at, () => (sign === '-' ? negateCondition(negation(field)) : negation(field)));
  }

  function term(field: Field | undefined): Expression {
    const at = lexer.at();
    budget.spend(at);
    if (isAtEnd())
      throw new ExpressionError(
        lexer.peek() === ')' ? 'A term is missing before this' : 'The expression is incomplete',
        at,
      );
    if (isOperator('AND', '&&') || isOperator('OR', '||'))
      throw new ExpressionError('A term is missing before this operator; use lower case to search for the word', at);
    if (lexer.peek() === '(') return group(field);
    if (field) {
      rejectNestedField();
      return fieldValue(field);
    }
    if (lexer.peek() === '"') return matchPhrase(getImplicitColumn(scope, at), lexer.phrase());
    return wordOrField();
  }

  /** In `a:(b:c)` the inner column would be read as text, which is never intended. */
  function rejectNestedField(): void {
    const [, name] = /^([^\s:()"]+):/.exec(text.slice(lexer.at(), lexer.at() + MAX_NAME_CHARACTERS)) ?? [];
    if (name !== undefined && findField(scope, name))
      throw new ExpressionError(`${quoted(name)} is not allowed in the parentheses of another column`, lexer.at());
  }

  function group(field: Field | undefined): Expression {
    const at = lexer.at();
    lexer.advance(1);
    const inner = budget.nest(at, () => disjunction(field));
    if (lexer.peek() !== ')') throw new ExpressionError('The closing ")" is missing', at);
    lexer.advance(1);
    return inner;
  }

  function wordOrField(): Expression {
    const start = lexer.at();
    rejectRegex(text, start);
    const name = lexer.word(':');
    if (lexer.peek() !== ':') return bareWord(name);
    const field = findField(scope, name.text);
    if (field && !hasWildcards(name)) {
      lexer.advance(1);
      return fieldValue(field);
    }
    if (!isTextWithColon(name)) throw unknownField(name);
    const rest = lexer.word('');
    return bareWord(
      withoutSingleWildcards({
        pieces: [...name.pieces, ...rest.pieces],
        raw: name.raw + rest.raw,
        text: name.text + rest.text,
        start,
      }),
    );
  }

  /** Not a field: `http://…`, `localhost:3000`, `db.internal:5432`, `12:30`, `::1`. */
  function isTextWithColon(name: Word): boolean {
    if (lexer.startsWith('://') || lexer.startsWith('::')) return true;
    if (/^[0-9]/.test(name.text)) return lexer.peek(1) !== '' && !/\s/.test(lexer.peek(1));
    const [first = '', ...rest] = name.text.split('.');
    const isHost = name.text === 'localhost' || (rest.length > 0 && !findNearColumn(scope, first));
    return isHost && /^:[0-9]{1,5}(?:$|[\s/)?])/.test(text.slice(lexer.at(), lexer.at() + 7));
  }

  function unknownField(name: Word): ExpressionError {
    if (name.text === '') return new ExpressionError('A column is missing before the colon', lexer.at());
    const { message } = unknownColumn(scope, name.text, name.start);
    const hint = message.endsWith('?') ? '' : '; put text with a colon in quotes';
    return new UnknownColumnError(message + hint, name.start);
  }

  function bareWord(word: Word): Expression {
    return matchWord(getImplicitColumn(scope, word.start), word);
  }

  function fieldValue(field: Field): Expression {
    const at = lexer.at();
    const first = lexer.peek();
    if (first === '(') return group(field);
    if (first === '"') return equalField(field, lexer.phrase());
    if (first === '[' || first === '{') return range(field);
    const sign = (['>=', '<=', '>', '<'] as const).find((each) => lexer.startsWith(each));
    if (sign) return comparison(field, sign);
    rejectRegex(text, at);
    const word = lexer.word('');
    if (word.raw === '') throw new ExpressionError(`A value is missing after ${quoted(field.name)}`, at);
    return matchField(field, word);
  }

  function comparison(field: Field, sign: ComparisonOperator): Expression {
    lexer.advance(sign.length);
    lexer.skipSpaces();
    const isQuoted = lexer.peek() === '"';
    const word = isQuoted ? lexer.phrase() : lexer.word('');
    if (!isQuoted && word.raw === '') throw new ExpressionError(`A value is missing after ${sign}`, word.start);
    return compareField(field, { operator: sign, word, isQuoted });
  }

  /** `[1 TO 5]` includes both ends, `{1 TO 5}` excludes them; a star is an open end. */
  function range(field: Field): Expression {
    const at = lexer.at();
    const includesFrom = lexer.peek() === '[';
    lexer.advance(1);
    const from = bound();
    lexer.skipSpaces();
    const to = lexer.word(']}');
    if (to.raw !== 'TO') throw new ExpressionError('A range is written as [from TO to]', to.start);
    const until = bound();
    lexer.skipSpaces();
    const close = lexer.peek();
    if (close !== ']' && close !== '}') throw new ExpressionError('The end of the range, "]" or "}", is missing', at);
    lexer.advance(1);
    return rangeField(field, [
      { ...from, operator: includesFrom ? '>=' : '>' },
      { ...until, operator: close === ']' ? '<=' : '<' },
    ]);
  }

  function bound(): { word: Word; isQuoted: boolean } {
    lexer.skipSpaces();
    const isQuoted = lexer.peek() === '"';
    const word = isQuoted ? lexer.phrase() : lexer.word(']}');
    if (!isQuoted && word.raw === '') throw new ExpressionError('A range is written as [from TO to]', word.start);
    return { word, isQuoted };
  }

  /** Whether the next word is this operator. */
  function isOperator(word: string, sign: string): boolean {
    lexer.skipSpaces();
    if (lexer.startsWith(sign)) return true;
    return lexer.startsWith(word) && /^[\s()"]?$/.test(lexer.peek(word.length));
  }

  function operator(word: string, sign: string): boolean {
    if (!isOperator(word, sign)) return false;
    lexer.advance(lexer.startsWith(sign) ? sign.length : word.length);
    return true;
  }

  function isAtEnd(): boolean {
    lexer.skipSpaces();
    return lexer.peek() === '' || lexer.peek() === ')';
  }
}

/** The negation also matches rows without the value. */
function negateCondition(operand: Expression): Expression {
  if (!isNullable(operand)) return not(operand);
  return not({ node: 'call', name: 'coalesce', operands: [operand, booleanLiteral(false)], type: BOOLEAN });
}

/** Rejects `/…/`. `/api/v1` is a path and an ordinary word. */
function rejectRegex(text: string, at: number): void {
  if (text.charAt(at) === '/' && /^\/\S+\/\)*(?:\s|$)/.test(text.slice(at)))
    throw new ExpressionError('Regular expressions are not supported; put a path in quotes', at);
}
