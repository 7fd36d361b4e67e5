/** Whether every store can hold the text: no NUL (PostgreSQL rejects it), no unpaired surrogate. */
export function isStorable(text: unknown): boolean {
  return typeof text !== 'string' || (!text.includes('\u0000') && text.isWellFormed());
}

export const STORABLE_RULE = 'The value must not contain NUL characters or unpaired surrogates';

/**
 * Characters that change a terminal or the order of the text: C0 without tab and newline, DEL, C1, the controls of text
 * direction, and line separators.
 */
const CONTROLS = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

export const hasControls = (text: string): boolean => text.search(CONTROLS) >= 0;

/** Text of users for a terminal or a log. The escapes are those of JSON, so JSON keeps its meaning. */
export const escapeControls = (text: string): string =>
  text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `1 service`, `2 services`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** The beginning of a text, marked as such, without half of a character at its end. Always well-formed. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text.toWellFormed();
  return `${cutCharacters(text, maxCharacters - 1)}…`;
}

/** At most so many UTF-16 code units of a text, without half of a character at its end. Always well-formed. */
export function cutCharacters(text: string, maxCharacters: number): string {
  const start = text.slice(0, maxCharacters);
  const isHalved = text.length > maxCharacters && /[\uD800-\uDBFF]$/.test(start);
  return (isHalved ? start.slice(0, -1) : start).toWellFormed();
}
