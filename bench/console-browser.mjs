import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { findChromium } from '../tools/chromium.mjs';

/** A desk's window. */
const WINDOW = { width: 1280, height: 900 };
/** A browser that has just been started is busy with itself for a while. */
const STARTING_MS = 1500;

/** A browser that nobody has used: a profile, a cache and a process of its own. Signed in, and nothing else. */
export async function withPage({ url, credentials, viewport = WINDOW }, use) {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const context = await browser.newContext({ viewport, locale: 'en-US' });
    const page = await context.newPage();
    if (url) await page.request.post(`${url}/console/session`, { data: credentials });
    await delay(STARTING_MS);
    return await use(page);
  } finally {
    await browser.close();
  }
}
