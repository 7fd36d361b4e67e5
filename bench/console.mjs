// The console in a real browser.
import { findChromium } from '../tools/chromium.mjs';
import { loadRows } from './console-load.mjs';
import { wallRows } from './console-wall.mjs';

/** Rows for the report; none where there is no browser. */
export async function consoleRows() {
  if (findChromium() === '') {
    console.error('Chromium is not installed: the console is not measured.');
    return [];
  }
  return [...(await loadRows()), ...(await wallRows())];
}
