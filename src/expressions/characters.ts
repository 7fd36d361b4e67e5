import { ExpressionError } from './expression-error.ts';

/** The longest text that is looked at, in UTF-16 code units. */
const LONGEST_TEXT = 10_000;

/** Halves of characters cannot be sent to an engine, and NUL ends a text in more than one place. */
const UNFIT = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** Refuses what is too long or holds characters that no text may hold. */
export function checkText(text: string): void {
  if (text.length > LONGEST_TEXT)
    throw new ExpressionError(`An expression has at most ${LONGEST_TEXT} characters`, LONGEST_TEXT);
  const unfit = UNFIT.exec(text);
  if (unfit) throw new ExpressionError('NUL characters and halves of characters are not allowed', unfit.index);
}

export function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

/** ASCII only: letters that merely look like these are something else. */
export function isLetter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character === '_';
}

export function isNamePart(character: string): boolean {
  return isLetter(character) || isDigit(character);
}

export function isSpace(character: string): boolean {
  return character === ' ' || (character >= '\t' && character <= '\r');
}

/** U+00A0, for messages about characters that cannot be seen or look like others. */
export function codePointName(text: string, at: number): string {
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
