/** Beyond this number, the windows that were used least recently are forgotten. */
export const MAX_WINDOWS = 50_000;

/** At least 1, and never more than the window: a clock with fractions can round the rest up. */
export const toResetSeconds = (restMs: number, windowSeconds: number): number =>
  Math.min(windowSeconds, Math.max(1, Math.ceil(restMs / 1000)));
