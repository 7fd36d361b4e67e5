import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest';
import type { Credentials } from './client.ts';
import { type StartOptions, type TestServer, useServer } from './server.ts';

export type { Page };

/** Pictures of every page, to be looked at by people; kept after the run. */
export const SCREENSHOTS = join(tmpdir(), 'pilothouse-screenshots');
const WIDTHS = [375, 768, 1280];
/** Below the test's own limit, so that the message says what was waited for. */
const PATIENCE_MS = 12_000;

export interface OpenOptions {
  width?: number;
  colorScheme?: 'light' | 'dark';
}

export interface TestBrowser {
  server: TestServer;
  /** A page of a browser that nobody has used before; `path` may also be the address of another server. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** The same, after signing in through the form. */
  signIn(credentials: Credentials | { token: string }, path?: string, options?: OpenOptions): Promise<Page>;
  /** The console may complain in these words without failing the test; for the test that provokes it. */
  expectComplaint(pattern: RegExp): void;
}

/**
 * A browser and a server for the whole suite. After each test nothing may have been asked of another host, thrown in the
 * page or refused by the security policy.
 */
export function inBrowser(name: string, suite: (browser: TestBrowser) => void, options: StartOptions = {}): void {
  describe.skipIf(inject('chromiumPath') === '')(name, () => {
    const server = useServer('libsql', options);
    let browser: Browser | undefined;
    let contexts: BrowserContext[] = [];
    let complaints: string[] = [];
    let expected: RegExp[] = [];

    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: inject('chromiumPath'),
        args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
      });
    });
    afterAll(async () => browser?.close());
    afterEach(async () => {
      for (const context of contexts) await context.close();
      const found = complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
      contexts = [];
      complaints = [];
      expected = [];
      expect(found).toEqual([]);
    });

    const open = async (path: string, { width = 1280, colorScheme = 'light' }: OpenOptions = {}): Promise<Page> => {
      if (!browser) throw new Error('the browser is not running');
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme,
        locale: 'en-US',
        reducedMotion: 'reduce',
      });
      context.setDefaultTimeout(PATIENCE_MS);
      contexts.push(context);
      const page = await context.newPage();
      const address = /^http:/.test(path) ? path : server.url + path;
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (/^https?:/.test(url.protocol) && url.origin !== new URL(address).origin)
          complaints.push(`asked another host: ${request.url()}`);
      });
      page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
      page.on('console', (message) => {
        // A refused request is the page's business to show, and no mistake by itself.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          complaints.push(`said: ${message.text()}`);
      });
      await page.goto(address);
      return page;
    };

    suite({
      server,
      open,
      async signIn(credentials, path = '/', openOptions = {}) {
        const page = await open(path, openOptions);
        await fillSignIn(page, credentials);
        await page.getByRole('button', { name: 'Account and appearance' }).waitFor();
        return page;
      },
      expectComplaint: (pattern) => void expected.push(pattern),
    });
  });
}

export async function fillSignIn(page: Page, credentials: Credentials | { token: string }): Promise<void> {
  const form = page.getByRole('form', { name: 'Sign in' });
  if ('token' in credentials) {
    await form.getByText('Dashboard token').click();
    await form.getByRole('textbox', { name: 'Token' }).fill(credentials.token);
  } else {
    await form.getByLabel('Key id').fill(credentials.keyId);
    await form.getByRole('textbox', { name: 'Key secret' }).fill(credentials.keySecret);
  }
  await form.getByRole('button', { name: 'Sign in' }).click();
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  impact: string;
  tags: string[];
  nodes: { target: string[]; failureSummary: string }[];
}

/** WCAG 2.2 AA, as far as a program can tell, and of other good practice what is serious. */
export async function expectAccessible(page: Page): Promise<void> {
  await settled(page);
  await page.evaluate(axe);
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(WCAG)}, resultTypes: ['violations'] })`,
  )) as { violations: Violation[] };
  const told = violations
    .filter(({ tags, impact }) => tags.some((tag) => tag.startsWith('wcag')) || /serious|critical/.test(impact))
    .map(
      ({ id, impact, nodes }) =>
        `${impact} ${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`).join('; ')}`,
    );
  expect(told).toEqual([]);
}

/** Everything that was asked for has come and every picture stands still. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  // What was just changed begins to move a frame or two later, and may set off something else.
  await page.evaluate(`(async () => {
    for (let still = 0; still < 3; still += 1) {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const moving = document.getAnimations();
      if (moving.length > 0) still = -1;
      await Promise.all(moving.map((animation) => animation.finished.catch(() => {})));
    }
  })()`);
}

/** At three widths, none of which may make the page scroll sideways. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-${width}.png`), fullPage: true });
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} at ${width}`).toBeLessThanOrEqual(
      width,
    );
  }
}
