/** The path of the system's browser, or an empty string. */
export function findChromium(): string;
