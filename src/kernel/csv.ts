/** RFC 4180. */
export const END_OF_LINE = '\r\n';

const NEEDS_QUOTES = /[",\r\n]/;
/** The start of a formula in a spreadsheet, also after whitespace that the spreadsheet trims. */
const STARTS_FORMULA = /^[\s\u00a0\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Quotes text from users if needed. A leading apostrophe keeps spreadsheets from evaluating it as a formula. */
export function textCell(text: string): string {
  const safe = STARTS_FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const formatLine = (cells: readonly string[]): string => cells.join(',') + END_OF_LINE;
