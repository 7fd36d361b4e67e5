/** RFC 4180. */
export const END_OF_LINE = '\r\n';

const NEEDS_QUOTES = /[",\r\n]/;
/** What a spreadsheet takes for the beginning of a formula, also behind blanks that it drops. */
const WOULD_RUN = /^[\s\u00a0\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** A cell that holds somebody's text. One that a spreadsheet would run gets an apostrophe in front, which makes it text. */
export function textCell(text: string): string {
  const safe = WOULD_RUN.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const line = (cells: readonly string[]): string => cells.join(',') + END_OF_LINE;
