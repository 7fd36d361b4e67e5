import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { findChromium } from '../tools/chromium.mjs';

/** A desktop window. */
const DESKTOP = { width: 1280, height: 900 };
/** Time for the background work of a new browser to end. */
const STARTUP_MS = 1500;

/** Runs `use` with a page of a new browser with an empty profile, signed in if credentials are given. */
export async function withPage({ url, credentials, viewport = DESKTOP }, use) {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const context = await browser.newContext({ viewport, locale: 'en-US' });
    const page = await context.newPage();
    if (url) await page.request.post(`${url}/console/session`, { data: credentials });
    await delay(STARTUP_MS);
    return await use(page);
  } finally {
    await browser.close();
  }
}
