import { cutText } from './cut-text.ts';
import { tokenize } from './lexer.ts';

/** Of the text in the audit log. */
const MAX_SHOWN_BYTES = 4096;

/** The statement as the audit log of an organization shows it that keeps literals: as it was sent, at most 4 KB. */
export const toKeptStatement = (sql: string): string => cutText(sql.trim(), MAX_SHOWN_BYTES);

/**
 * The statement as the audit log shows it: without comments, with `?` for every text and number, and without the rows of an
 * INSERT, at most 4 KB.
 */
export function toShownStatement(sql: string): string {
  let shown = '';
  let isInsert: boolean | undefined;
  let isFormat = false;
  for (const { kind, start, end } of tokenize(sql)) {
    if (shown.length > MAX_SHOWN_BYTES) break;
    const text = sql.slice(start, end);
    if (kind === 'space' || kind === 'comment') {
      if (shown !== '' && !shown.endsWith(' ')) shown += ' ';
      continue;
    }
    shown += kind === 'text' || kind === 'number' || kind === 'odd' ? '?' : text;
    if (kind !== 'word') continue;
    isInsert ??= text.toUpperCase() === 'INSERT';
    // What follows the name of the format are rows.
    if (isInsert && isFormat) break;
    isFormat = text.toUpperCase() === 'FORMAT';
  }
  return cutText(shown.trimEnd(), MAX_SHOWN_BYTES);
}
