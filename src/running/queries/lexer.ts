/** A part of a statement. `text`: a quoted literal. `quoted`: a name in quotes. `odd`: what cannot be read for certain. */
export interface Token {
  kind: 'space' | 'comment' | 'word' | 'quoted' | 'text' | 'number' | 'symbol' | 'odd';
  start: number;
  end: number;
}

const SPACE = /\s+/y;
const WORD = /[A-Za-z_][A-Za-z0-9_$]*/y;
const NUMBER =
  /0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?/y;
const LINE_COMMENT = /(?:--|#[ !])[^\n]*/y;
const HEREDOC_START = /\$[A-Za-z0-9_]*\$/y;

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
  if (character === "'") return readQuoted(sql, start, 'text');
  if (character === '"' || character === '`') return readQuoted(sql, start, 'quoted');
  if (sql.startsWith('/*', start)) return { kind: 'comment', start, end: findCommentEnd(sql, start) };
  // Typographic quotes are quotes for ClickHouse, without escapes.
  if (character === '‘') return { kind: 'odd', start, end: findEnd(sql, '’', start) };
  if (character === '“') return { kind: 'odd', start, end: findEnd(sql, '”', start) };
  const heredoc = character === '$' ? findMatchEnd(sql, HEREDOC_START, start) : 0;
  if (heredoc > 0) return { kind: 'odd', start, end: findEnd(sql, sql.slice(start, heredoc), heredoc) };
  const [kind, pattern] = findPattern(character);
  const end = pattern ? findMatchEnd(sql, pattern, start) : 0;
  return end > 0 ? { kind, start, end } : { kind: 'symbol', start, end: start + 1 };
}

/** What can start with a character. Only one pattern is tried, because a long statement has 200,000 tokens. */
function findPattern(character: string): [kind: Token['kind'], pattern?: RegExp] {
  if ((character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character === '_')
    return ['word', WORD];
  if ((character >= '0' && character <= '9') || character === '.') return ['number', NUMBER];
  if (character === '-' || character === '#') return ['comment', LINE_COMMENT];
  if (character <= ' ' || character > '~') return ['space', SPACE];
  return ['symbol'];
}

/** 0 if it does not match there. */
function findMatchEnd(sql: string, pattern: RegExp, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(sql) ? pattern.lastIndex : 0;
}

/** The position after the next `mark`, or the end of the statement. */
function findEnd(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from);
  return found < 0 ? sql.length : found + mark.length;
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
  return sql.length;
}
