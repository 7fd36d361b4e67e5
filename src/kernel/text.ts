/** What every store can hold and give back: no NUL (PostgreSQL refuses it), no half of a surrogate pair. */
export function isStorable(text: unknown): boolean {
  return typeof text !== 'string' || (!text.includes('\u0000') && text.isWellFormed());
}

export const STORABLE_RULE = 'The value must not contain NUL characters or unpaired surrogates';
