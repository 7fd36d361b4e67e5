/**
 * Characters that change a terminal or the order of the text: C0 without tab and newline, DEL, C1, and the controls of
 * text direction.
 */
const CONTROLS = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Text of users for a terminal. The escapes are those of JSON, so JSON keeps its meaning. */
export const escapeControls = (text: string): string =>
  text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
