import { ExpressionError } from './expression-error.ts';

/** In UTF-16 code units. */
const MAX_TEXT_CHARACTERS = 10_000;

/** Unpaired surrogates cannot be encoded as UTF-8, and NUL ends a string in some clients. */
const UNSUPPORTED = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** Throws if the text is too long or contains unsupported characters. */
export function checkText(text: string): void {
  if (text.length > MAX_TEXT_CHARACTERS)
    throw new ExpressionError(`An expression has at most ${MAX_TEXT_CHARACTERS} characters`, MAX_TEXT_CHARACTERS);
  const unsupported = UNSUPPORTED.exec(text);
  if (unsupported)
    throw new ExpressionError('NUL characters and unpaired surrogates are not allowed', unsupported.index);
}

export function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

/** ASCII only, to exclude lookalikes. */
export function isLetter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character === '_';
}

export function isNamePart(character: string): boolean {
  return isLetter(character) || isDigit(character);
}

export function isSpace(character: string): boolean {
  return character === ' ' || (character >= '\t' && character <= '\r');
}

/** `U+00A0`, for errors about invisible characters and lookalikes. */
export function codePointName(text: string, at: number): string {
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
