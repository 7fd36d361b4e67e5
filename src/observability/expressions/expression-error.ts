/** An invalid expression, with the position of the error. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** 0-based offset in the text, in UTF-16 code units. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/** The text uses a column that the source does not have. Other sources may have it. */
export class UnknownColumnError extends ExpressionError {}

const BEFORE = 24;
const AFTER = 24;

/** Shows the position on one line: `at character 7: "Body ▸FORMAT JSON"`. */
export function pointAt(text: string, error: ExpressionError): string {
  const position = Math.min(Math.max(error.position, 0), text.length);
  const before = visible(text.slice(Math.max(0, position - BEFORE), position));
  const after = visible(text.slice(position, position + AFTER));
  const start = position > BEFORE ? '… ' : '';
  const end = position + AFTER < text.length ? ' …' : '';
  return `at character ${position + 1}: "${start}${before}▸${after}${end}"`;
}

/** Replaces invisible characters by spaces and unpaired surrogates by U+FFFD. */
export function visible(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Z}]/gu, ' ');
}
