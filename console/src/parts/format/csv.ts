const END_OF_LINE = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/** The start of a formula in a spreadsheet, also after whitespace that the spreadsheet trims. */
export const STARTS_FORMULA = /^[\s\u00a0\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** As in the exports of the server: a leading apostrophe keeps spreadsheets from evaluating text as a formula. */
export function textCell(text: string): string {
  const safe = STARTS_FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Large integers are texts in JSON. */
const INTEGER = /^-?\d+$/;

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return INTEGER.test(value) ? value : textCell(value);
  return textCell(JSON.stringify(value));
}

/** RFC 4180. The first row has the names of the columns. */
export const formatCsv = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((cells) => cells.map(formatCell).join(',') + END_OF_LINE).join('');
