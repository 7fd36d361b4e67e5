/** Text without a quote, bracket or comma. */
const PLAIN = /[^'"`()[\]{},]+/y;
const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/**
 * Splits at the commas outside of quotes and brackets, without the spaces around each expression. Stops after `max`
 * commas, so that the work is limited.
 */
export function splitExpressions(text: string, max = Number.POSITIVE_INFINITY): string[] {
  const parts: string[] = [];
  const open: string[] = [];
  let start = 0;
  let at = 0;
  while (at < text.length && parts.length < max) {
    PLAIN.lastIndex = at;
    if (PLAIN.test(text)) {
      at = PLAIN.lastIndex;
      continue;
    }
    const character = text[at] as string;
    if (character === ',' && open.length === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    } else if (character === open.at(-1)) open.pop();
    else if (character in CLOSING) open.push(CLOSING[character] as string);
    at = /['"`]/.test(character) ? findQuoteEnd(text, at) : at + 1;
  }
  parts.push(text.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** The position after the closing quote; the end of the text if there is none. A backslash escapes a character. */
function findQuoteEnd(text: string, at: number): number {
  const quote = text[at];
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === '\\') end++;
    else if (text[end] === quote) return end + 1;
  }
  return text.length;
}

export const joinExpressions = (expressions: readonly string[]): string => expressions.join(', ');
