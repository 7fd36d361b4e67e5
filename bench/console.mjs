// Benchmarks of the console in a real browser.
import { findChromium } from '../tools/chromium.mjs';
import { chartRows } from './console-charts.mjs';
import { loadRows } from './console-load.mjs';

/** Returns no rows if Chromium is not installed. */
export async function consoleRows() {
  if (findChromium() === '') {
    console.error('Chromium is not installed; skipping the console benchmarks.');
    return [];
  }
  return [...(await loadRows()), ...(await chartRows())];
}
