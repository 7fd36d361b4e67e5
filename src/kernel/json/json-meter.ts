const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,[]{}'].map((character) =>
  character.charCodeAt(0),
);

/** The number of values includes lists and objects; the depth is the number of lists and objects around a value. */
export interface JsonLimits {
  maxValues: number;
  maxDepth: number;
}

export type ExceededLimit = keyof JsonLimits;

/**
 * Counts the values and the depth of a JSON text in its UTF-8 bytes, without parsing it. The text may be given in any
 * number of pieces. Of a text that is not JSON, the counts mean nothing, and the parser rejects it.
 */
export function createJsonMeter({ maxValues, maxDepth }: JsonLimits) {
  let values = 1;
  let depth = 0;
  let isInString = false;
  let isEscaped = false;

  /** The position after the string that contains `start`, or the end of the bytes. */
  function skipString(bytes: Uint8Array, start: number): number {
    let at = start;
    if (isEscaped) {
      isEscaped = false;
      at++;
    }
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH) {
        if (++at === bytes.length) isEscaped = true;
      } else if (byte === QUOTE) {
        isInString = false;
        return at + 1;
      }
    }
    return at;
  }

  /** Counts a byte outside a string. */
  function count(byte: number | undefined): void {
    if (byte === COMMA) values++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++;
      depth++;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }

  return {
    /** Returns the limit that the text exceeds so far. */
    add(bytes: Uint8Array): ExceededLimit | undefined {
      let at = isInString ? skipString(bytes, 0) : 0;
      while (at < bytes.length) {
        const byte = bytes[at++];
        isInString = byte === QUOTE;
        if (isInString) at = skipString(bytes, at);
        else count(byte);
        if (depth > maxDepth) return 'maxDepth';
        if (values > maxValues) return 'maxValues';
      }
      return undefined;
    },
  };
}
