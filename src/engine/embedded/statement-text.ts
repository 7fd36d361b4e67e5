interface Token {
  kind: 'word' | 'quoted' | 'string' | 'number' | 'mark';
  /** As written; of a quoted name what stands between its quotes. */
  text: string;
}

// Only what can be read in one way: strings, quoted names, words, numbers, the ASCII marks.
const PIECE =
  /\s*(?:('(?:[^'\\]|\\[\s\S]|'')*')|("(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`\\]|\\[\s\S]|``)*`)|([A-Za-z_][A-Za-z0-9_]*)|([0-9][A-Za-z0-9_.]*)|(--|#|\/\*|\/\/)|([!%()*+,./:;<=>?@[\]^{|}~-]))/y;

/** The tokens of a statement; a text says why there are none. Comments and here-documents are left to nobody. */
function tokensOf(sql: string): Token[] | string {
  const tokens: Token[] = [];
  const text = sql.trimEnd();
  for (let at = 0; at < text.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at;
    const match = PIECE.exec(text);
    if (!match) return 'a quote is not closed, or a character does not belong outside quotes';
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
/** A quoted name with an escape in it may spell anything. */
const isEscaped = ({ kind, text }: Token) => kind === 'quoted' && text.includes('\\');
const isName = ({ kind }: Token) => kind === 'word' || kind === 'quoted';

/** Functions that reach outside the engine, or into its system tables, although they need no right. */
const REACHING = /^(file|catboostEvaluate|executable\w*|arrowstream|python|ai[A-Z]\w*|merge|loop|cluster\w*)$/i;

/** Readable whatever the grants, and full of what others ask: all but the tables that we need ourselves. */
const SYSTEM = /^(system|information_schema)$/i;
const SYSTEM_TABLES = /^(columns|one|numbers)$/;

/**
 * Why a reader may not run a statement; undefined when it may. A last wall: statements come from our own writer, and the
 * reader's role is what refuses tables and sources.
 */
export function refusalOf(sql: string, parameters: [name: string, value: string][] = []): string | undefined {
  const written = tokensOf(sql);
  if (typeof written === 'string') return written;
  const tokens = withNames(written, new Map(parameters));
  while (isMark(tokens.at(-1), ';')) tokens.pop();
  const first = tokens.find((token) => !isMark(token, '('));
  if (!isWord(first, 'SELECT', 'WITH', 'EXPLAIN')) return 'only SELECT may be run here';
  if (tokens.some((token) => isMark(token, ';'))) return 'one statement at a time';
  for (const [index, token] of tokens.entries()) {
    if (isWord(token, 'INTO') && isWord(tokens[index + 1], 'OUTFILE')) return 'INTO OUTFILE is not allowed';
    const problem = isName(token) ? checkName(token, tokens, index) : undefined;
    if (problem) return problem;
  }
  return undefined;
}

function checkName(token: Token, tokens: Token[], index: number): string | undefined {
  const next = tokens[index + 1];
  const member = isMark(next, '.') ? tokens[index + 2] : undefined;
  if (member && (SYSTEM.test(token.text) || isEscaped(token)) && !SYSTEM_TABLES.test(member.text))
    return `the table ${token.text}.${member.text} is not allowed`;
  const before = tokens[index - 1];
  const isApplied = isWord(before, 'APPLY') || (isMark(before, '(') && isWord(tokens[index - 2], 'APPLY'));
  if ((isMark(next, '(') || isApplied) && (REACHING.test(token.text) || isEscaped(token)))
    return `the function ${token.text} is not allowed`;
  return undefined;
}

/** `{table:Identifier}` stands for a name, and is looked at as one. */
function withNames(tokens: Token[], values: Map<string, string>): Token[] {
  const named: Token[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const [open, name, colon, type, close] = tokens.slice(index, index + 5);
    if (isMark(open, '{') && isMark(colon, ':') && isWord(type, 'IDENTIFIER') && isMark(close, '}')) {
      const parts = (values.get(name?.text ?? '') ?? '').split('.').map((text) => ({ kind: 'quoted', text }) as const);
      named.push(...parts.flatMap((part, at): Token[] => (at > 0 ? [{ kind: 'mark', text: '.' }, part] : [part])));
      index += 4;
    } else if (open) named.push(open);
  }
  return named;
}

/** The format that a statement names itself, at its end. */
export const findFormat = (sql: string): string | undefined => /\bFORMAT\s+(\w+)[\s;]*$/i.exec(sql)?.[1];

/** An SQL literal. NUL is written out, since it would end the text on its way into the engine. */
export const literal = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
