/**
 * A part of a statement. `text`: a literal in quotes or a heredoc. `quoted`: a name in quotes. `odd`: a quote, heredoc or
 * comment that is not closed, or a number that is not complete.
 */
export interface Token {
  kind: 'space' | 'comment' | 'word' | 'quoted' | 'text' | 'number' | 'symbol' | 'odd';
  start: number;
  end: number;
}

const SPACE = /\s+/y;
const WORD = /[A-Za-z_][A-Za-z0-9_$]*/y;
const WORD_REST = /[A-Za-z0-9_]*/y;
/** An exponent may lack its digits: what follows is not a part of it. */
const NUMBER =
  /0[xX][0-9a-fA-F_]+(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9]*)?|(?:0[bB](?=[01]))?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?|\.[0-9]+(?:[eE][+-]?[0-9]*)?/y;
const OPEN_EXPONENT = /^(?:0[xX].*[pP]|(?!0[xX]).*[eE])[+-]?$/;
/** Bytes as digits, without escapes. */
const DIGIT_TEXT = /[xX]'[0-9a-fA-F]*'|[bB]'[01]*'/y;
const LINE_COMMENT = /(?:--|\/\/|#[ !])[^\n]*/y;
const HEREDOC_START = /\$[A-Za-z0-9_]*\$/y;

/** What a token is whose first character has this code; most tokens are of these kinds. */
const STARTS: readonly ('space' | 'word' | 'number' | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return 'space';
  if (/[A-Za-z_]/.test(character)) return 'word';
  return /[0-9]/.test(character) ? 'number' : undefined;
});
/** What it may be otherwise. */
const OTHERS: Readonly<Record<string, readonly [Token['kind'], RegExp]>> = {
  '-': ['comment', LINE_COMMENT],
  '/': ['comment', LINE_COMMENT],
  '#': ['comment', LINE_COMMENT],
};

/**
 * Splits a statement as ClickHouse does: backslashes and doubled quotes in literals, comments that may be nested. Each
 * character is read a fixed number of times.
 */
export function* tokenize(sql: string): Generator<Token> {
  for (let start = 0; start < sql.length; ) {
    const token = readToken(sql, start);
    yield token;
    start = token.end;
  }
}

function readToken(sql: string, start: number): Token {
  const character = sql.charAt(start);
  const kind = STARTS[sql.charCodeAt(start)];
  if (kind === 'space') return { kind, start, end: match(SPACE, sql, start) };
  if (kind === 'number') return readNumber(sql, start);
  if (kind === 'word') return readWord(sql, start, character);
  if (character === "'") return readQuoted(sql, start, 'text');
  if (character === '"' || character === '`') return readQuoted(sql, start, 'quoted');
  return readOther(sql, start, character) ?? { kind: 'symbol', start, end: start + 1 };
}

function readOther(sql: string, start: number, character: string): Token | undefined {
  const enclosed = (kind: Token['kind'], end: number): Token =>
    end < 0 ? { kind: 'odd', start, end: sql.length } : { kind, start, end };
  if (character === '/' && sql.charAt(start + 1) === '*') return enclosed('comment', findCommentEnd(sql, start));
  // Typographic quotes are quotes for ClickHouse, without escapes.
  if (character === '‘') return enclosed('text', findEnd(sql, '’', start));
  if (character === '“') return enclosed('quoted', findEnd(sql, '”', start));
  const heredoc = character === '$' ? match(HEREDOC_START, sql, start) : 0;
  if (heredoc > 0) return enclosed('text', findEnd(sql, sql.slice(start, heredoc), heredoc));
  if (character === '.' && match(NUMBER, sql, start) > 0) return readNumber(sql, start);
  const [kind, pattern] = OTHERS[character] ?? (character > '\x7f' ? (['space', SPACE] as const) : []);
  const end = pattern ? match(pattern, sql, start) : 0;
  return kind && end > 0 ? { kind, start, end } : undefined;
}

function readWord(sql: string, start: number, character: string): Token {
  if (sql.charAt(start + 1) !== "'" || !/[xXbB]/.test(character))
    return { kind: 'word', start, end: match(WORD, sql, start) };
  const end = match(DIGIT_TEXT, sql, start);
  return end > 0 ? { kind: 'text', start, end } : { kind: 'odd', start, end: sql.length };
}

/** A number with letters directly after it is a name, such as `2nd`; with a point, ClickHouse cannot read it. */
function readNumber(sql: string, start: number): Token {
  const end = match(NUMBER, sql, start);
  const last = match(WORD_REST, sql, end);
  const text = sql.slice(start, end);
  // Whether a dollar sign continues such a name depends on what follows.
  const isName = !text.includes('.') && sql.charAt(last) !== '$';
  if (last > end) return { kind: isName ? 'word' : 'odd', start, end: last };
  return { kind: OPEN_EXPONENT.test(text) ? 'odd' : 'number', start, end };
}

/** The end of what matches at `start`; 0 if nothing does. */
function match(pattern: RegExp, sql: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(sql) ? pattern.lastIndex : 0;
}

/** The position after the next `mark`; negative if there is none. */
function findEnd(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from);
  return found < 0 ? found : found + mark.length;
}

function readQuoted(sql: string, start: number, kind: 'text' | 'quoted'): Token {
  const quote = sql.charAt(start);
  for (let at = start + 1; at < sql.length; at++) {
    const character = sql.charAt(at);
    if (character === '\\') at++;
    else if (character === quote) {
      if (sql.charAt(at + 1) !== quote) return { kind, start, end: at + 1 };
      at++;
    }
  }
  return { kind: 'odd', start, end: sql.length };
}

function findCommentEnd(sql: string, start: number): number {
  let depth = 0;
  for (let at = start; at < sql.length; ) {
    if (sql.startsWith('/*', at)) {
      depth++;
      at += 2;
    } else if (sql.startsWith('*/', at)) {
      depth--;
      at += 2;
      if (depth === 0) return at;
    } else at++;
  }
  return -1;
}
