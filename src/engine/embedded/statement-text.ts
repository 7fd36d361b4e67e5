interface Token {
  kind: 'word' | 'quoted' | 'string' | 'number' | 'mark';
  /** As written; for a quoted name, the text between the quotes. */
  text: string;
}

// Only unambiguous tokens: strings, quoted names, words, numbers, ASCII punctuation.
const TOKEN =
  /\s*(?:('(?:[^'\\]|\\[\s\S]|'')*')|("(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`\\]|\\[\s\S]|``)*`)|([A-Za-z_][A-Za-z0-9_]*)|([0-9][A-Za-z0-9_.]*)|(--|#|\/\*|\/\/)|([!%()*+,./:;<=>?@[\]^{|}~-]))/y;

/** Returns the tokens of a statement, or the reason it is rejected. Comments and heredocs are not allowed. */
function tokenize(sql: string): Token[] | string {
  const tokens: Token[] = [];
  const text = sql.trimEnd();
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) return 'a quote is not closed, or a character is not allowed outside quotes';
    const [, string, quoted, word, number, comment, mark] = match;
    if (comment !== undefined) return 'comments are not allowed';
    if (string !== undefined) tokens.push({ kind: 'string', text: string });
    else if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted.slice(1, -1) });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
  }
  return tokens;
}

const isWord = (token: Token | undefined, ...words: string[]) =>
  token?.kind === 'word' && words.includes(token.text.toUpperCase());
const isMark = (token: Token | undefined, mark: string) => token?.kind === 'mark' && token.text === mark;
/** A quoted name with an escape sequence may be any name. */
const isEscaped = ({ kind, text }: Token) => kind === 'quoted' && text.includes('\\');
const isName = ({ kind }: Token) => kind === 'word' || kind === 'quoted';

/** Functions that access files, the network or system tables without requiring a privilege. */
const PROHIBITED_FUNCTIONS =
  /^(file|catboostEvaluate|executable\w*|arrowstream|python|ai[A-Z]\w*|merge|loop|cluster\w*)$/i;

/** Readable regardless of grants, and they contain the queries of other users. Only the tables we need are allowed. */
const SYSTEM_DATABASES = /^(system|information_schema)$/i;
const READABLE_SYSTEM_TABLES = /^(columns|one|numbers)$/;

/**
 * Returns why a reader may not run a statement; undefined if it may. A second line of defense: our own code writes the
 * statements, and the reader's role already restricts tables and sources.
 */
export function findProhibition(sql: string, parameters: [name: string, value: string][] = []): string | undefined {
  const parsed = tokenize(sql);
  if (typeof parsed === 'string') return parsed;
  const tokens = resolveIdentifiers(parsed, new Map(parameters));
  while (isMark(tokens.at(-1), ';')) tokens.pop();
  const first = tokens.find((token) => !isMark(token, '('));
  if (!isWord(first, 'SELECT', 'WITH', 'EXPLAIN')) return 'only SELECT statements are allowed';
  if (tokens.some((token) => isMark(token, ';'))) return 'only one statement is allowed';
  for (const index of tokens.keys()) {
    const reason = findProhibitionAt(tokens, index);
    if (reason) return reason;
  }
  return undefined;
}

function findProhibitionAt(tokens: readonly Token[], index: number): string | undefined {
  const [token, next] = tokens.slice(index, index + 2);
  if (isWord(token, 'INTO') && isWord(next, 'OUTFILE')) return 'INTO OUTFILE is not allowed';
  if (!token || !isName(token)) return undefined;
  const member = isMark(next, '.') ? tokens[index + 2] : undefined;
  if (member && isProhibitedTable(token, member)) return `the table ${token.text}.${member.text} is not allowed`;
  const isFunction = isMark(next, '(') || isApplied(tokens, index);
  return isFunction && (PROHIBITED_FUNCTIONS.test(token.text) || isEscaped(token))
    ? `the function ${token.text} is not allowed`
    : undefined;
}

const isProhibitedTable = (database: Token, table: Token): boolean =>
  (SYSTEM_DATABASES.test(database.text) || isEscaped(database)) && !READABLE_SYSTEM_TABLES.test(table.text);

/** Whether the token is the function of `APPLY f` or `APPLY(f)`. */
function isApplied(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  return isWord(before, 'APPLY') || (isMark(before, '(') && isWord(tokens[index - 2], 'APPLY'));
}

/** Replaces `{table:Identifier}` with the value of the parameter. */
function resolveIdentifiers(tokens: Token[], values: Map<string, string>): Token[] {
  const resolved: Token[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const [open, name, colon, type, close] = tokens.slice(index, index + 5);
    if (isMark(open, '{') && isMark(colon, ':') && isWord(type, 'IDENTIFIER') && isMark(close, '}')) {
      const parts = (values.get(name?.text ?? '') ?? '').split('.').map((text) => ({ kind: 'quoted', text }) as const);
      resolved.push(...parts.flatMap((part, at): Token[] => (at > 0 ? [{ kind: 'mark', text: '.' }, part] : [part])));
      index += 4;
    } else if (open) resolved.push(open);
  }
  return resolved;
}

/** The FORMAT clause at the end of a statement. */
export const findFormat = (sql: string): string | undefined => /\bFORMAT\s+(\w+)[\s;]*$/i.exec(sql)?.[1];

/** An SQL string literal. NUL is escaped because it would terminate the statement. */
export const toLiteral = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
