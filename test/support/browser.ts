import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect, inject } from 'vitest';
import type { Credentials } from './client.ts';
import { type StartOptions, type TestServer, useServer } from './server.ts';

export type { Page };

/** Screenshots of every page, for manual review; kept after the run. */
const SCREENSHOTS = join(tmpdir(), 'pilothouse-screenshots');
const SAVES_SCREENSHOTS = process.env.PILOTHOUSE_TEST_SCREENSHOTS !== undefined;
const WIDTHS = [1280, 768, 375];
/** Screenshots and accessibility checks take long on a machine under load. */
const TEST_TIMEOUT_MS = 120_000;
/** Below the timeout of a test, so that the error names the locator. */
const LOCATOR_TIMEOUT_MS = 30_000;

interface OpenOptions {
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
}

export interface TestBrowser {
  server: TestServer;
  /** Opens a page in a new browser context; `path` may also be the URL of another server. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** Opens a page with a new session. The sign-in form has its own tests. */
  signIn(credentials: Credentials | { token: string }, path?: string, options?: OpenOptions): Promise<Page>;
  /** Matching browser console messages do not fail the test. */
  allowConsoleError(pattern: RegExp): void;
  /** Requests to matching addresses of other hosts do not fail the test. */
  allowHost(pattern: RegExp): void;
}

/**
 * A browser and a server for the whole suite. A test fails if the page contacted another host, threw an error or violated
 * the content security policy.
 */
export function inBrowser(name: string, suite: (browser: TestBrowser) => void, options: StartOptions = {}): void {
  describe.skipIf(inject('chromiumPath') === '')(name, { timeout: TEST_TIMEOUT_MS }, () => {
    const server = useServer('libsql', options);
    /** Of the current test, with the options of each. */
    let contexts: { context: BrowserContext; key: string }[] = [];
    /** Of earlier tests, by their options: pages load in half of the time from the caches of a context. */
    const unused = new Map<string, BrowserContext[]>();
    let problems: string[] = [];
    let allowed: RegExp[] = [];

    afterAll(async () => {
      for (const context of [...unused.values()].flat()) await context.close();
    });
    afterEach(async ({ task }) => {
      for (const { context, key } of contexts) {
        if (task.result?.state === 'fail') await context.close();
        else {
          await clear(context);
          unused.set(key, [...(unused.get(key) ?? []), context]);
        }
      }
      const found = problems.filter((text) => !allowed.some((pattern) => pattern.test(text)));
      contexts = [];
      problems = [];
      allowed = [];
      expect(found).toEqual([]);
    });

    const openPage = async (
      path: string,
      { width = 1280, height = 900, colorScheme = 'light' }: OpenOptions,
      credentials?: Credentials | { token: string },
    ): Promise<Page> => {
      const settings = { viewport: { width, height }, colorScheme };
      const key = JSON.stringify(settings);
      const context = unused.get(key)?.pop() ?? (await openContext(settings));
      contexts.push({ context, key });
      const page = await context.newPage();
      const address = /^https?:/.test(path) ? path : server.url + path;
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (/^https?:/.test(url.protocol) && url.origin !== new URL(address).origin)
          problems.push(`request to another host: ${request.url()}`);
      });
      page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
      page.on('console', (message) => {
        // Failed requests are expected: the page shows them.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          problems.push(`console error: ${message.text()}`);
      });
      if (credentials) {
        const response = await context.request.post(new URL('/console/session', address).href, { data: credentials });
        expect(response.status()).toBe(200);
      }
      await page.goto(address);
      return page;
    };

    suite({
      server,
      open: (path, openOptions = {}) => openPage(path, openOptions),
      async signIn(credentials, path = '/', openOptions = {}) {
        const page = await openPage(path, openOptions, credentials);
        await page.getByRole('button', { name: 'Account and appearance' }).waitFor();
        return page;
      },
      allowConsoleError: (pattern) => void allowed.push(pattern),
      allowHost: (pattern) => void allowed.push(new RegExp(`^request to another host: ${pattern.source}`)),
    });
  });
}

let launched: Promise<Browser> | undefined;

/** One browser for all test files of a worker; it ends with the worker. */
const launchBrowser = (): Promise<Browser> => {
  launched ??= chromium.launch({
    executablePath: inject('chromiumPath'),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return launched;
};

async function openContext(settings: BrowserContextOptions): Promise<BrowserContext> {
  const browser = await launchBrowser();
  // The certificates of tests are from an authority that the browser does not know.
  const context = await browser.newContext({
    ...settings,
    locale: 'en-US',
    reducedMotion: 'reduce',
    ignoreHTTPSErrors: true,
  });
  context.setDefaultTimeout(LOCATOR_TIMEOUT_MS);
  return context;
}

/** Leaves only the caches of a context. */
async function clear(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    if (/^https?:/.test(page.url())) await page.evaluate('localStorage.clear()');
    await page.close();
  }
  await context.clearCookies();
  await context.clearPermissions();
}

export async function fillSignIn(page: Page, credentials: Credentials | { token: string }): Promise<void> {
  const form = page.getByRole('form', { name: 'Sign in' });
  if ('token' in credentials) {
    await form.getByText('Dashboard token').click();
    await form.getByRole('textbox', { name: 'Token' }).fill(credentials.token);
  } else {
    await form.getByLabel('Key ID').fill(credentials.keyId);
    await form.getByRole('textbox', { name: 'Key secret' }).fill(credentials.keySecret);
  }
  await form.getByRole('button', { name: 'Sign in' }).click();
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

interface Violation {
  id: string;
  impact: string;
  tags: string[];
  nodes: { target: string[]; failureSummary: string }[];
}

/** Checks WCAG 2.2 AA, and best practices with serious impact. */
export const expectAccessible = (page: Page): Promise<void> => checkRules(page, WCAG);

/** The rules about colors: the others have the same result in light and dark. */
export const expectReadable = (page: Page): Promise<void> => checkRules(page, { type: 'rule', values: COLOR_RULES });

async function checkRules(page: Page, runOnly: object): Promise<void> {
  await waitUntilSettled(page);
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })`,
  )) as { violations: Violation[] };
  const messages = violations
    .filter(({ tags, impact }) => tags.some((tag) => tag.startsWith('wcag')) || /serious|critical/.test(impact))
    .map(
      ({ id, impact, nodes }) =>
        `${impact} ${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`).join('; ')}`,
    );
  expect(messages).toEqual([]);
}

/** Waits until all requests and animations have finished. */
export async function waitUntilSettled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  // Animations start a frame or two after a change, and may trigger others.
  await page.evaluate(`(async () => {
    for (let quietRounds = 0; quietRounds < 3; quietRounds += 1) {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const animations = document.getAnimations();
      if (animations.length > 0) quietRounds = -1;
      await Promise.all(animations.map((animation) => animation.finished.catch(() => {})));
    }
  })()`);
}

/** Fails if the page scrolls horizontally at one of three widths. With PILOTHOUSE_TEST_SCREENSHOTS=1, saves a screenshot of each. */
export async function checkWidths(page: Page, name: string): Promise<void> {
  if (SAVES_SCREENSHOTS) mkdirSync(SCREENSHOTS, { recursive: true });
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await waitUntilSettled(page);
    if (SAVES_SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}-${width}.png`), fullPage: true });
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} at ${width}`).toBeLessThanOrEqual(
      width,
    );
  }
}
