// Where statements and parameters are in a text. The server parses the statements; this only finds their bounds.

/** A part of a text; `from` and `to` are offsets in it. */
export interface Statement {
  text: string;
  from: number;
  to: number;
}

/** What is sent for one statement. */
export interface Command {
  sql: string;
  /** Offset of `sql` in the editor, to mark an error there. A prefix that is not in the editor makes it smaller. */
  offset: number;
  /** The statement in the editor. */
  statement: string;
  explains?: 'plan' | 'pipeline' | 'estimate' | undefined;
}

export interface Parameter {
  name: string;
  type: string;
}

/** A text in quotes, a comment or a heredoc: nothing in them ends a statement. */
const OPAQUE = [
  /'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)/y,
  /"(?:[^"\\]|\\[\s\S]|"")*(?:"|$)/y,
  /`(?:[^`\\]|\\[\s\S]|``)*(?:`|$)/y,
  /\$(\w*)\$[\s\S]*?(?:\$\1\$|$(?![\s\S]))/y,
];
const COMMENTS = [/--[^\n]*/y, /#[ !][^\n]*/y, /\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))/y];
const PARAMETER = /\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}/y;

/** The characters with which the above begin. */
const OPENING = '\'"`$-#/';

function matchAt(patterns: readonly RegExp[], text: string, at: number): string | undefined {
  if (!OPENING.includes(text.charAt(at))) return undefined;
  for (const pattern of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return found[0];
  }
  return undefined;
}

/** The statements of a text, without the semicolons, and without those that are only spaces and comments. */
export function splitStatements(text: string): Statement[] {
  const found: Statement[] = [];
  /** The first character that is neither a space nor in a comment. */
  let from: number | undefined;
  let to = 0;
  const end = () => {
    if (from !== undefined) found.push({ text: text.slice(from, to), from, to });
    from = undefined;
  };
  for (let at = 0; at < text.length; ) {
    const comment = matchAt(COMMENTS, text, at);
    const part = comment ?? matchAt(OPAQUE, text, at) ?? text.charAt(at);
    if (part === ';') end();
    else if (comment === undefined && part.trim() !== '') {
      from ??= at;
      to = at + part.length;
    }
    at += Math.max(part.length, 1);
  }
  end();
  return found;
}

/** The statement at an offset, or the one before it. */
export function findStatement(text: string, at: number): Statement | undefined {
  const statements = splitStatements(text);
  return statements.findLast(({ from }) => from <= at) ?? statements[0];
}

/** The parameters `{name:Type}` of a text, each once. */
export function listParameters(text: string): Parameter[] {
  const found = new Map<string, Parameter>();
  for (let at = 0; at < text.length; ) {
    const skipped = matchAt(COMMENTS, text, at) ?? matchAt(OPAQUE, text, at);
    PARAMETER.lastIndex = at;
    const [whole = '', name = '', type = ''] = (text.charAt(at) === '{' && PARAMETER.exec(text)) || [];
    if (name !== '' && !found.has(name)) found.set(name, { name, type });
    at += Math.max((skipped ?? whole).length, 1);
  }
  return [...found.values()];
}

export const quoteName = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
