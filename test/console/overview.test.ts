import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { expectAccessible, inBrowser, waitUntilSettled } from '../support/browser.ts';
import { cli } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { PROGRAM } from '../support/server.ts';

const MAX_SCRIPT_BYTES = 250_000;
const DAY_MS = 86_400_000;
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const today = Date.now();
const month = `${day(today).slice(0, 7)}-01`;

/** The last sixty days, each with a different cost. */
const usageCosts = Array.from({ length: 60 }, (_, back) => ({
  date: day(today - back * DAY_MS),
  entityType: 'service',
  entityId: acme.primary,
  metrics: { computeCHC: 10 + back / 1000, publicDataTransferCHC: 0.000001 },
}));
const [organization, ...others] = fleet.organizations;

inBrowser(
  'overview page',
  (browser) => {
    const usage = async (from: string, to: string) =>
      (
        await browser.server.call({
          path: `/v1/organizations/${acme.id}/usageCost?from_date=${from}&to_date=${to}`,
          key: acme.admin,
        })
      ).json.result;
    const figure = (chc: number) => chc.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

    it('matches the API for this month and the last month', async () => {
      const page = await browser.signIn(acme.admin);
      const { grandTotalCHC } = await usage(month, day(today));
      const lastEnd = day(Date.parse(month) - DAY_MS);
      const last = await usage(`${lastEnd.slice(0, 7)}-01`, lastEnd);
      await waitUntilSettled(page);
      const figures = page.locator('dl').first();
      expect(await figures.textContent()).toContain(`Month to date${figure(grandTotalCHC)} CHC`);
      expect(await figures.textContent()).toContain(`Last month: ${figure(last.grandTotalCHC)} CHC`);
      const services = page.getByRole('table', { name: 'Services' });
      expect(await services.getByRole('row', { name: /Total/ }).textContent()).toContain(figure(grandTotalCHC));
      expect(await services.getByRole('row', { name: /analytics/ }).textContent()).toContain(figure(grandTotalCHC));
      expect(
        await services
          .getByRole('img', { name: /Daily cost of analytics/ })
          .locator('rect')
          .count(),
      ).toBe(30);
    });

    it('shows services, expiring keys and recent activity', async () => {
      await createKey(browser.server, { name: 'leaving', expireAt: new Date(today + 3 * DAY_MS).toISOString() });
      const page = await browser.signIn(acme.admin);
      const row = page.getByRole('row', { name: /analytics/ });
      expect(await row.textContent()).toContain('16–120 GB × 3');
      expect(await row.textContent()).toContain('Idles after 15 min');
      const expiring = page.getByRole('region', { name: 'Expiring keys' });
      await expiring.getByText('leaving').waitFor();
      expect(await expiring.textContent()).not.toContain('developer');
      await page.getByRole('region', { name: 'Recent activity' }).getByText('created the key leaving').waitFor();
      await row.getByRole('link').click();
      await page.getByRole('heading', { name: 'analytics', level: 1 }).waitFor();
    });

    it('explains how to get started, without secrets, until it is dismissed', async () => {
      const page = await browser.signIn(acme.admin);
      const card = page.getByRole('region', { name: 'Get started', exact: true });
      await card.waitFor();
      const text = (await card.textContent()) ?? '';
      for (const secret of [acme.admin.keyId, acme.admin.keySecret]) expect(text).not.toContain(secret);
      expect(await card.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe('/docs');
      const [, path = ''] =
        new RegExp(`curl -u "\\$KEY_ID:\\$KEY_SECRET" '${browser.server.url}(/v1/[^']+)'`).exec(text) ?? [];
      expect((await browser.server.call({ path, key: acme.admin })).json.result).toHaveLength(3);
      const yaml = (await card.locator('pre').last().textContent()) ?? '';
      const file = join(browser.server.directory, 'fleet.yaml');
      writeFileSync(file, yaml);
      const applied = await cli(['apply', file, '--dry-run', '--data', join(browser.server.directory, 'data')]);
      expect([applied.code, applied.stderr]).toEqual([0, expect.any(String)]);
      expect(applied.stdout).toContain('reporting');
      await expectAccessible(page);
      await card.getByRole('button', { name: 'Dismiss' }).click();
      await card.waitFor({ state: 'detached' });
      await page.reload();
      await page.getByRole('row', { name: /analytics/ }).waitFor();
      expect(await card.count()).toBe(0);
      await page.getByRole('button', { name: 'Get started' }).click();
      await card.waitFor();
    });

    it('shows local times with UTC as tooltip', async () => {
      const page = await browser.signIn(acme.admin);
      const time = page.getByRole('region', { name: 'Recent activity' }).locator('time').first();
      expect(await time.getAttribute('title')).toMatch(/ · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    });

    it('shows an error only in the panel that failed to load', async () => {
      const page = await browser.open('/');
      await page.route('**/keys', (route) => route.fulfill({ status: 500, json: { error: 'INTERNAL_ERROR: Broken' } }));
      const { keyId, keySecret } = acme.admin;
      await page.getByLabel('Key ID').fill(keyId);
      await page.getByRole('textbox', { name: 'Key secret' }).fill(keySecret);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('Broken').waitFor();
      await page.getByRole('row', { name: /analytics/ }).waitFor();
      await page.unroute('**/keys');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
    });

    it('requests the session and each resource only once', async () => {
      const page = await browser.signIn(acme.admin);
      const requested: string[] = [];
      page.on('request', (request) => {
        const { pathname, search } = new URL(request.url());
        if (/^\/(console|v1)\//.test(pathname)) requested.push(pathname + search);
      });
      await page.reload();
      await waitUntilSettled(page);
      expect(requested).toContain('/console/session');
      expect(requested.toSorted()).toEqual([...new Set(requested)].toSorted());
    });

    it('loads at most 250 KB of compressed scripts and none of other pages', async () => {
      const page = await browser.signIn(acme.admin);
      const scripts: string[] = [];
      page.on('response', (response) => {
        if (/\.js$/.test(new URL(response.url()).pathname)) scripts.push(new URL(response.url()).pathname);
      });
      await page.reload();
      await waitUntilSettled(page);
      expect(scripts.length).toBeGreaterThan(0);
      const sizes = scripts.map((path) => gzipSync(readFileSync(join(PROGRAM, '../console', path))).length);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
      expect(scripts.filter((path) => /(keys|service|costs|dashboard|activity)-page|sql-tab/.test(path))).toEqual([]);
    });
  },
  { fleet: { organizations: [{ ...organization, usageCosts }, ...others] } },
);
