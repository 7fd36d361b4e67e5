const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,[]{}'].map((character) =>
  character.charCodeAt(0),
);

/** The number of values includes lists and objects; the depth is the number of lists and objects around a value. */
interface JsonLimits {
  maxValues: number;
  maxDepth: number;
}

/**
 * The limit that a JSON text exceeds: counts its values and its depth in its UTF-8 bytes, without parsing it. Of a text
 * that is not JSON, the counts mean nothing, and the parser rejects it.
 */
export function findExceededLimit(
  bytes: Uint8Array,
  { maxValues, maxDepth }: JsonLimits,
): keyof JsonLimits | undefined {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findEndOfString(bytes, at + 1);
    else if (byte === COMMA) values++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++;
      depth++;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    if (depth > maxDepth) return 'maxDepth';
    if (values > maxValues) return 'maxValues';
  }
  return undefined;
}

/** The position of the closing quote, or the end of the bytes. */
function findEndOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
  return at;
}
