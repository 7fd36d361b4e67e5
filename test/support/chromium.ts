import { existsSync } from 'node:fs';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The system's browser, or an empty text. */
export const findChromium = (): string => CANDIDATES.find((path) => existsSync(path)) ?? '';
