import { AppError } from '../../../kernel/errors.ts';
import { type Token, tokenize } from '../lexer.ts';

/** A token that matters. `value`: a name without its quotes, or the content of a literal. */
export interface Part {
  kind: 'word' | 'quoted' | 'text' | 'bytes' | 'number' | 'symbol';
  raw: string;
  value: string;
  /** In UTF-16 units, from 1. */
  position: number;
  /** Of an opening bracket: the index of the closing one. */
  closing: number | undefined;
  /** Of an opening bracket: how many are directly inside. */
  commas: number;
}

/** All other characters are in literals, quoted names and comments only. */
const SYMBOLS = new Set('-()[]{},.;:+*/%=<>!|?@^&');

/** As many as ClickHouse reads. */
const MAX_DEPTH = 1000;

/** The tokens of a text without spaces and comments. Throws if one of them cannot be read for certain. */
export function readParts(sql: string): Part[] {
  const parts: Part[] = [];
  const open: Part[] = [];
  for (const token of tokenize(sql)) {
    if (token.kind === 'space' || token.kind === 'comment') continue;
    const part = readPart(sql, token);
    if (part.kind === 'symbol') nest(part, parts.length, open);
    parts.push(part);
  }
  return parts;
}

/** Notes which brackets belong together. `open` has those that are not closed yet. */
function nest(part: Part, index: number, open: Part[]): void {
  const { raw, position } = part;
  const around = open.at(-1);
  if (raw === '(' || raw === '[') {
    if (open.push(part) > MAX_DEPTH) throw unreadable(`the brackets at position ${position} are nested too deeply`);
  } else if (raw === ')' || raw === ']') {
    open.pop();
    if (around?.raw === (raw === ')' ? '(' : '[')) around.closing = index;
  } else if (raw === ',' && around) around.commas++;
}

function readPart(sql: string, { kind, start, end }: Token): Part {
  const raw = sql.slice(start, end);
  const position = start + 1;
  if (kind === 'odd') throw unreadable(`the quote, comment or number at position ${position} is not complete`);
  if (kind === 'space' || kind === 'comment') throw new Error('spaces and comments are not parts');
  if (kind === 'symbol' && !SYMBOLS.has(raw))
    throw unreadable(`the character at position ${position} must be in quotes`);
  // Such as x'41'.
  if (kind === 'text' && /^[xXbB]/.test(raw))
    return { kind: 'bytes', raw, value: raw, position, closing: undefined, commas: 0 };
  const value = kind === 'quoted' || kind === 'text' ? unquote(raw, kind, position) : raw;
  return { kind, raw, value, position, closing: undefined, commas: 0 };
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
