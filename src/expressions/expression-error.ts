/** Text that cannot be made an expression: what is wrong and what would be right, and where. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** 0-based offset in the text, in UTF-16 code units. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

const BEFORE = 24;
const AFTER = 24;

/** One line that shows where the text stops making sense: `at character 7: "Body ▸FORMAT JSON"`. */
export function pointAt(text: string, error: ExpressionError): string {
  const position = Math.min(Math.max(error.position, 0), text.length);
  const before = visible(text.slice(Math.max(0, position - BEFORE), position));
  const after = visible(text.slice(position, position + AFTER));
  const start = position > BEFORE ? '… ' : '';
  const end = position + AFTER < text.length ? ' …' : '';
  return `at character ${position + 1}: "${start}${before}▸${after}${end}"`;
}

/** Keeps the line one line: what has no shape of its own becomes a space, halves of characters a replacement. */
export function visible(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Z}]/gu, ' ');
}
