import { existsSync } from 'node:fs';

const PROGRAMS = [
  // Chromium without the parts of a desktop browser, which take most of its processor time here.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path of the system's browser, or an empty string. */
export const findChromium = () => PROGRAMS.find((path) => existsSync(path)) ?? '';
