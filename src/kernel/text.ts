/** Whether every store can hold the text: no NUL (PostgreSQL rejects it), no unpaired surrogate. */
export function isStorable(text: unknown): boolean {
  return typeof text !== 'string' || (!text.includes('\u0000') && text.isWellFormed());
}

export const STORABLE_RULE = 'The value must not contain NUL characters or unpaired surrogates';
