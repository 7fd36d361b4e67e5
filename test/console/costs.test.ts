import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  checkWidths,
  expectAccessible,
  expectReadable,
  inBrowser,
  type Page,
  waitUntilSettled,
} from '../support/browser.ts';
import { acme, fleet } from '../support/fleet.ts';

const DAY_MS = 86_400_000;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const day = (back: number) => new Date(today - back * DAY_MS).toISOString().slice(0, 10);
const LOCKED_AFTER = 4;
const DAYS = 200;

/** Amounts whose floating-point sum would be wrong. */
const usageCosts = Array.from({ length: DAYS }, (_, back) => back).flatMap((back) => [
  {
    date: day(back),
    entityType: 'service',
    entityId: acme.primary,
    entityName: 'analytics',
    locked: back >= LOCKED_AFTER,
    metrics: { computeCHC: (100_000 + back) / 1_000_000, publicDataTransferCHC: 0.2 },
  },
  {
    date: day(back),
    entityType: 'service',
    entityId: acme.secondary,
    entityName: '<img src=x onerror="window.pwned=1">',
    locked: back >= LOCKED_AFTER,
    metrics: { computeCHC: 0.700007 },
  },
  {
    date: day(back),
    entityType: 'datawarehouse',
    entityId: acme.warehouse,
    entityName: 'main warehouse',
    locked: back >= LOCKED_AFTER,
    metrics: { storageCHC: 0.000001, backupCHC: 0.1 },
  },
]);
const [organization, ...others] = fleet.organizations;

interface CostRecord {
  date: string;
  entityId: string;
  dataWarehouseId: string;
  locked: boolean;
  metrics: Record<string, number>;
  totalCHC: number;
}

const parseMicros = (text: string): bigint => {
  const [whole = '0', part = ''] = text.replaceAll(',', '').split('.');
  return BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'));
};
const toMicros = (chc: number): bigint => BigInt(Math.round(chc * 1_000_000));
const sum = (amounts: bigint[]): bigint => amounts.reduce((one, other) => one + other, 0n);

inBrowser(
  'costs page',
  (browser) => {
    const records = async (from: number, to: number): Promise<CostRecord[]> =>
      (
        await browser.server.call({
          path: `/v1/organizations/${acme.id}/usageCost?from_date=${day(from)}&to_date=${day(to)}`,
          key: acme.admin,
        })
      ).json.result.costs;
    const listCosts = async (days: number) => {
      const parts = Array.from({ length: Math.ceil(days / 30) }, (_, index) =>
        records(Math.min(days, (index + 1) * 30) - 1, index * 30),
      );
      return (await Promise.all(parts)).flat();
    };
    /** Label and amount of each row of the group table. */
    const lines = async (page: Page, by: string): Promise<Map<string, bigint>> => {
      const table = page.getByRole('table', { name: `Costs by ${by}` });
      await table.waitFor();
      const found = await table.locator('tbody tr').all();
      const cells = await Promise.all(found.map((row) => row.getByRole('cell').allTextContents()));
      return new Map(cells.map(([label = '', , amount = '']) => [label, parseMicros(amount)]));
    };
    const total = async (page: Page) => parseMicros((await page.getByTestId('total').textContent()) ?? '');

    it('matches the totals of the API by metric, service and warehouse', async () => {
      const page = await browser.signIn(acme.developer, '/costs');
      const costs = await listCosts(30);
      const whole = sum(costs.map(({ totalCHC }) => toMicros(totalCHC)));
      const metric = await lines(page, 'metric');
      expect(await total(page)).toBe(whole);
      expect(sum([...metric.values()])).toBe(whole);
      expect(metric.get('Compute')).toBe(sum(costs.map(({ metrics }) => toMicros(metrics.computeCHC ?? 0))));
      expect(metric.get('Storage')).toBe(sum(costs.map(({ metrics }) => toMicros(metrics.storageCHC ?? 0))));

      await page.getByText('Service', { exact: true }).click();
      const service = await lines(page, 'service');
      expect(sum([...service.values()])).toBe(whole);
      const ofPrimary = costs.filter(({ entityId }) => entityId === acme.primary);
      expect(service.get('analytics')).toBe(sum(ofPrimary.map(({ totalCHC }) => toMicros(totalCHC))));
      await page.waitForURL(/by=service/);

      await page.getByText('Warehouse', { exact: true }).click();
      const warehouse = await lines(page, 'warehouse');
      expect(warehouse).toEqual(new Map([['main warehouse', whole]]));

      const days = page.getByRole('region', { name: 'Costs by day' });
      const totals = await days.locator('tbody td[data-sum]').allTextContents();
      expect(totals).toHaveLength(30);
      expect(sum(totals.map(parseMicros))).toBe(whole);
      expect(parseMicros(totals[0] ?? '')).toBe(
        sum(costs.filter(({ date }) => date === day(0)).map(({ totalCHC }) => toMicros(totalCHC))),
      );
      expect(await page.evaluate('window.pwned')).toBeUndefined();
    });

    it('matches the totals for more than 31 days', async () => {
      const page = await browser.signIn(acme.admin, '/costs');
      await page.getByRole('button', { name: '180 days' }).click();
      await page.getByText(/180 days \(UTC\)/).waitFor();
      await page.locator(`g[data-day="${day(179)}"]`).waitFor({ state: 'attached' });
      expect(await page.locator('[data-testid="cost-chart"] g[data-day]').count()).toBe(180);
      expect(await total(page)).toBe(sum((await listCosts(180)).map(({ totalCHC }) => toMicros(totalCHC))));
    });

    it('marks days that are not locked', async () => {
      const page = await browser.signIn(acme.admin, '/costs');
      const chart = page.getByTestId('cost-chart');
      await chart.waitFor();
      const open = await chart.locator('g[data-open="true"]').all();
      const expected = [...new Set((await listCosts(30)).filter(({ locked }) => !locked).map(({ date }) => date))];
      expect(await Promise.all(open.map((bar) => bar.getAttribute('data-day')))).toEqual(expected.toSorted());
      expect(expected).toHaveLength(LOCKED_AFTER);
      const opacity = (isOpen: boolean) =>
        page.evaluate(`Number(getComputedStyle(document.querySelector('g[data-open="${isOpen}"] rect')).opacity)`);
      expect([await opacity(false), await opacity(true)]).toEqual([1, 0.5]);
      await page.getByRole('list', { name: 'Legend' }).getByText('Not final').waitFor();
    });

    it('shows the total of each day on a phone', async () => {
      const page = await browser.signIn(acme.admin, '/costs', { width: 375 });
      const foot = page.getByRole('region', { name: 'Costs by day' }).locator('tfoot [data-sum]');
      await foot.waitFor();
      expect(toMicros(Number((await foot.textContent())?.replaceAll(',', '')))).toBe(await total(page));
      const box = await foot.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(375);
    });

    it('shows a tooltip and hides groups through the legend', async () => {
      const page = await browser.signIn(acme.admin, '/costs');
      const bar = page.locator(`g[data-day="${day(10)}"] rect`).first();
      await bar.hover();
      const tip = page.getByTestId('cost-tooltip');
      await tip.getByText('Locked').waitFor();
      expect(await tip.textContent()).toContain('Compute0.800017');
      await page.getByRole('button', { name: 'Compute' }).click();
      await bar.hover();
      expect(await tip.textContent()).not.toContain('Compute');
      expect((await lines(page, 'metric')).get('Compute')).toBeGreaterThan(0n);
    });

    it('zooms to the days selected by dragging', async () => {
      const page = await browser.signIn(acme.admin, '/costs?by=service');
      const middle = async (back: number) => {
        const box = await page
          .locator(`g[data-day="${day(back)}"] rect`)
          .first()
          .boundingBox();
        if (!box) throw new Error('the day has no bar');
        return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      };
      const [from, to] = [await middle(20), await middle(15)];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 5 });
      await page.mouse.up();
      await page.waitForURL(
        (url) => url.searchParams.get('from') === day(20) && url.searchParams.get('to') === day(15),
      );
      await waitUntilSettled(page);
      expect(new URL(page.url()).searchParams.get('by')).toBe('service');
      expect(await total(page)).toBe(sum((await records(20, 15)).map(({ totalCHC }) => toMicros(totalCHC))));
    });

    it('ranks the changes from the previous period by service and meter, largest first', async () => {
      const path = `/v1/organizations/${acme.id}/usageCost/summary?from_date=${day(29)}&to_date=${day(0)}&by=all&group=entity`;
      const { json } = await browser.server.call({ path, key: acme.admin });
      const page = await browser.signIn(acme.developer, '/costs');
      const table = page.getByRole('table', { name: 'Changes by service and meter' });
      await table.waitFor();
      await page.getByText(/^Compared with .*\d{4} – .*\d{4}\. Today is not complete yet\.$/).waitFor();
      const rows = await table.locator('tbody tr').all();
      const cells = await Promise.all(rows.map((row) => row.getByRole('cell').allTextContents()));
      // Only the compute of analytics differs: 0.1 + back / 1,000,000 per day, so 30 × 30 micro-credits less.
      expect(cells[0]?.[0]).toBe('analytics Compute');
      expect(cells[0]?.[3]).toMatch(/^−0\.0009.*<0\.1%|^−0\.0009.*0%/);
      const { changeCHC } = json.result.totals;
      expect(changeCHC).toBe(-0.0009);
      await page.getByTestId('total-change').getByText('−0.0009').waitFor();
    });

    it('marks scaling changes on their day, with their values in the tooltip', async () => {
      const scaling = `/v1/organizations/${acme.id}/services/${acme.primary}/replicaScaling`;
      for (const numReplicas of [4, 3]) {
        const body = { numReplicas };
        expect((await browser.server.call({ method: 'PATCH', path: scaling, key: acme.admin, body })).status).toBe(200);
      }
      const page = await browser.signIn(acme.admin, '/costs');
      const mark = page.getByTestId('scaling-mark');
      await mark.waitFor({ state: 'attached' });
      const changedOn = await mark.getAttribute('data-day');
      expect([day(0), day(-1)]).toContain(changedOn);
      await page.locator(`g[data-day="${changedOn}"] rect`).first().hover();
      const tip = page.getByTestId('cost-tooltip');
      await tip.getByText('analytics: Replicas 3 → 4').waitFor();
      await tip.getByText('analytics: Replicas 4 → 3').waitFor();
      await page.getByRole('list', { name: 'Legend' }).getByText('Scaling change').waitFor();
      // Other services have no marks.
      await page.goto(`${browser.server.url}/costs?entity=${acme.secondary}`);
      await page.getByTestId('cost-chart').waitFor();
      await waitUntilSettled(page);
      expect(await mark.count()).toBe(0);
    });

    it.each([1280, 390])(
      'drills down by bar and row, keeps the filters in the URL and goes back (%i px)',
      async (width) => {
        const page = await browser.signIn(acme.admin, '/costs', { width });
        const micros = (costs: CostRecord[]) => sum(costs.map(({ totalCHC }) => toMicros(totalCHC)));
        const bar = page.locator(`g[data-day="${day(10)}"] rect`).first();
        await bar.click();
        await page.waitForURL((url) => url.searchParams.get('day') === day(10));
        await page.getByTestId('selected-day').waitFor();
        expect(await total(page)).toBe(micros(await records(10, 10)));

        const groups = page.getByRole('table', { name: 'Costs by metric' });
        await groups.getByRole('row', { name: /^Compute/ }).click();
        await page.waitForURL((url) => url.searchParams.get('metric') === 'compute');
        const service = await lines(page, 'service');
        expect(service.get('analytics')).toBe(100_010n);
        await page.reload();
        await page.getByRole('button', { name: 'Remove filter Meter: Compute' }).waitFor();
        expect((await lines(page, 'service')).get('analytics')).toBe(100_010n);

        await page.getByRole('button', { name: /^Remove filter Day/ }).click();
        await page.waitForURL((url) => !url.searchParams.has('day'));
        const changes = page.getByRole('table', { name: 'Changes by service and meter' });
        await changes.getByRole('row', { name: /^analytics Compute/ }).click();
        await page.waitForURL((url) => url.searchParams.get('entity') === acme.primary);
        await waitUntilSettled(page);
        const own = (await listCosts(30)).filter(({ entityId }) => entityId === acme.primary);
        expect(await total(page)).toBe(sum(own.map(({ metrics }) => toMicros(metrics.computeCHC ?? 0))));
        await expectAccessible(page);

        await page.goBack();
        await page.waitForURL((url) => !url.searchParams.has('entity') && !url.searchParams.has('day'));
        await page.goBack();
        await page.waitForURL((url) => url.searchParams.get('day') === day(10) && url.searchParams.has('metric'));
        await page.getByRole('button', { name: /^Remove filter Day/ }).waitFor();
        await page.goBack();
        await page.goBack();
        await page.waitForURL((url) => url.search === '');
        expect(await total(page)).toBe(micros(await listCosts(30)));
      },
    );

    it.each([
      ['CSV (one row per cost record)', 'csv'],
      ['FOCUS 1.2 (one row per charge)', 'focus'],
    ])('downloads %s', async (item, format) => {
      const page = await browser.signIn(acme.admin, `/costs?from=${day(40)}&to=${day(5)}`);
      await page.getByRole('button', { name: 'Download' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ]);
      const { keyId, keySecret } = acme.admin;
      const direct = await fetch(
        `${browser.server.url}/v1/organizations/${acme.id}/usageCost/export?from_date=${day(40)}&to_date=${day(5)}&format=${format}`,
        { headers: { authorization: `Basic ${btoa(`${keyId}:${keySecret}`)}` } },
      );
      const expected = await direct.text();
      expect(expected.split('\n').length).toBeGreaterThan(36 * 3);
      expect(readFileSync(await download.path(), 'utf8')).toBe(expected);
    });

    it('shows the daily share of a budget', async () => {
      const { status } = await browser.server.call({
        method: 'POST',
        path: `/v1/organizations/${acme.id}/budgets`,
        key: acme.admin,
        body: { name: 'Whole fleet', monthlyCHC: 40 },
      });
      expect(status).toBe(200);
      const page = await browser.signIn(acme.admin, '/costs');
      await page.getByTestId('budget-line').waitFor();
      await page.getByText('Budget Whole fleet: 40.00 CHC per month').waitFor();
    });

    it('shows an empty state without costs', async () => {
      const page = await browser.signIn(acme.admin, '/costs?from=2020-01-01&to=2020-01-31');
      await page.getByText('No costs in this period').waitFor();
    });

    it('is accessible and fits three widths', async () => {
      const page = await browser.signIn(acme.admin, '/costs');
      await page.getByTestId('cost-chart').waitFor();
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await checkWidths(page, 'costs-dark');
      await page.emulateMedia({ colorScheme: 'light' });
      await checkWidths(page, 'costs');
    });
  },
  { fleet: { organizations: [{ ...organization, usageCosts }, ...others] } },
);
