import { expect, it } from 'vitest';
import { inBrowser, waitUntilSettled } from '../support/browser.ts';
import type { Demo } from '../support/demo.ts';
import { until } from '../support/until.ts';

/** The console of a running demo. */
export function testDemoConsole(getDemo: () => Demo): void {
  inBrowser('the console of the demo', (browser) => {
    it('signs in with one click', async () => {
      const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(getDemo().welcome) ?? [];
      const page = await browser.open(url);
      await page.getByRole('button', { name: 'Open the demo' }).click();
      await page.getByRole('row', { name: /analytics-reader/ }).waitFor();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Overview');
    });

    it('has data in every tile at the default range, and an incident in the last hour', async () => {
      expect(await getDemo().telemetry).toMatch(/is ready/);
      const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(getDemo().welcome) ?? [];
      // Tall, so that all tiles load without scrolling.
      const page = await browser.open(url, { height: 3000 });
      await page.getByRole('button', { name: 'Open the demo' }).click();
      await page.getByRole('link', { name: 'Dashboards' }).first().click();
      const links = page.getByRole('table', { name: 'Dashboards' }).getByRole('link');
      await links.first().waitFor();
      const paths = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
      expect(paths).toHaveLength(4);
      for (const path of paths) {
        await page.goto(url + path);
        await until(
          async () => {
            // The server writes its own metrics every 15 seconds.
            await page.reload();
            await page.locator('[data-tile]').first().waitFor();
            await waitUntilSettled(page);
            return page.getByText('No data in this time range').count();
          },
          (count) => count === 0,
          `tiles of ${path} are empty`,
        );
        expect(await page.getByTestId('tile-error').count()).toBe(0);
      }
      await page.goto(`${url}/dashboards/64f0c1d2e3a4b5c6d7e8f902`);
      const slowest = page.locator('[data-tile="slowest"]');
      await until(
        () => slowest.textContent(),
        // Less than a second without the incident.
        (text) => /POST \/charge[1-9]\.\d+ s/.test(text ?? ''),
        'payments has no incident in the last hour',
      );
    }, 600_000);

    it('is the only server that offers one-click sign-in', async () => {
      const page = await browser.open('/');
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
      expect(await page.getByRole('button', { name: 'Open the demo' }).count()).toBe(0);
    });
  });
}
