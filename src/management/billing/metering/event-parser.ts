/** An id and a source of 256 characters each, all escaped, fit into this; a longer string is not an event. */
const MAX_EVENT_CHARACTERS = 16_384;

/** Undefined when the string is not JSON or too long for an event. */
export function parseEvent(text: string | undefined): unknown {
  if (text === undefined || text.length > MAX_EVENT_CHARACTERS) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
