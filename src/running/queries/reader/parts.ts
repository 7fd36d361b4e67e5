import { AppError } from '../../../kernel/errors.ts';
import { type Token, tokenize } from '../lexer.ts';

/** A token that matters. `value`: a name without its quotes, or the content of a literal. */
export interface Part {
  kind: 'word' | 'quoted' | 'text' | 'number' | 'symbol';
  raw: string;
  value: string;
  /** In UTF-16 units, from 1. */
  position: number;
  /** Of an opening parenthesis: the index of the closing one, and the number of commas directly inside. */
  closing?: number;
  commas?: number;
}

/** All other characters are in literals, quoted names and comments only. */
const SYMBOL = /[-()[\]{},.;:+*/%=<>!|?@^&]/;

/** The tokens of a text without spaces and comments. Throws if one of them cannot be read for certain. */
export function readParts(sql: string): Part[] {
  const parts: Part[] = [];
  const open: { part: Part; isParenthesis: boolean }[] = [];
  for (const token of tokenize(sql)) {
    if (token.kind === 'space' || token.kind === 'comment') continue;
    const part = readPart(sql, token);
    const index = parts.push(part) - 1;
    if (part.kind !== 'symbol') continue;
    const innermost = open.at(-1);
    if (part.raw === '(' || part.raw === '[') open.push({ part, isParenthesis: part.raw === '(' });
    else if (part.raw === ',' && innermost) innermost.part.commas = (innermost.part.commas ?? 0) + 1;
    else if (part.raw === ')' || part.raw === ']') {
      if (innermost?.isParenthesis === (part.raw === ')')) innermost.part.closing = index;
      open.pop();
    }
  }
  return parts;
}

function readPart(sql: string, { kind, start, end }: Token): Part {
  const raw = sql.slice(start, end);
  const position = start + 1;
  if (kind === 'odd') throw unreadable(`the quote, heredoc or comment at position ${position} is not closed`);
  if (kind === 'space' || kind === 'comment') throw new Error('spaces and comments are not parts');
  if (kind === 'symbol' && !SYMBOL.test(raw))
    throw unreadable(`the character at position ${position} must be in quotes`);
  return { kind, raw, position, value: kind === 'quoted' || kind === 'text' ? unquote(raw, kind, position) : raw };
}

const HEREDOC = /^\$[A-Za-z0-9_]*\$/;

function unquote(raw: string, kind: 'quoted' | 'text', position: number): string {
  const [mark] = HEREDOC.exec(raw) ?? [];
  if (mark !== undefined) return raw.slice(mark.length, -mark.length);
  const quote = raw.charAt(0);
  const content = raw.slice(1, -1);
  if (quote === '‘' || quote === '“') return content;
  // The only escape that can stand for a letter.
  if (kind === 'quoted' && /\\x/i.test(content))
    throw unreadable(`the name in quotes at position ${position} must not contain \\x`);
  return content.replaceAll(quote + quote, quote).replaceAll(`\\${quote}`, quote);
}

const unreadable = (text: string): AppError =>
  new AppError('bad_request', `The reader may not run this statement: ${text}`);
