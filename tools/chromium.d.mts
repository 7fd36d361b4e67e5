/** The system’s browser, or an empty text. */
export function findChromium(): string;
