import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inBrowser } from '../support/browser.ts';
import { type Demo, startDemo } from '../support/demo.ts';

inBrowser('demo', (browser) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-demo-'));
  let demo: Demo | undefined;
  beforeAll(async () => {
    demo = await startDemo(join(directory, 'data'));
  });
  afterAll(async () => {
    await demo?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('signs in with one click', async () => {
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(demo?.welcome ?? '') ?? [];
    const page = await browser.open(url);
    await page.getByRole('button', { name: 'Open the demo' }).click();
    await page.getByRole('row', { name: /analytics-reader/ }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Overview');
  });

  it('is the only server that offers one-click sign-in', async () => {
    const page = await browser.open('/');
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('button', { name: 'Open the demo' }).count()).toBe(0);
  });
});
