import { existsSync } from 'node:fs';

const PROGRAMS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The system's browser, or an empty text. */
export const findChromium = () => PROGRAMS.find((path) => existsSync(path)) ?? '';
