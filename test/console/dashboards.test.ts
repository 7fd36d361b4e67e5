import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { board, position, QUERY, RANGE, rows, T0 } from '../support/board.ts';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';
import { listChildren, sendSignal } from '../support/processes.ts';
import { until } from '../support/until.ts';

const many = {
  id: 'many',
  name: 'Many',
  tiles: Array.from({ length: 24 }, (_, index) => ({
    id: `tile-${index}`,
    name: `Tile ${index}`,
    ...position((index % 2) * 12, Math.floor(index / 2) * 6, 12, 6),
    series: [{ type: 'time', aggFn: 'count', sourceId: 'logs', where: `Body:"request ${index} of api"` }],
  })),
};
const [organization, ...others] = fleet.organizations;

inBrowser(
  'dashboards',
  (browser) => {
    beforeAll(() => fillEngine(join(browser.server.directory, 'data'), rows));

    const tile = (page: Page, id: string) => page.locator(`[data-tile="${id}"]`);
    const readTileData = async (id: string) =>
      (await browser.server.call({ path: `/api/v2/dashboards/board/tiles/${id}/data?${QUERY}`, token: acme.token }))
        .json.data;
    const text = (value: number) => value.toLocaleString('en-US');

    it('lists dashboards and searches by name, tag and tile', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards');
      const table = page.getByRole('table', { name: 'Dashboards' });
      await table.getByRole('link', { name: 'Many' }).waitFor();
      await page.getByLabel('Search dashboards').fill('slowest');
      await table.getByRole('link', { name: 'Many' }).waitFor({ state: 'detached' });
      expect(await table.getByRole('link').allTextContents()).toEqual(['Board']);
      await page.getByLabel('Search dashboards').fill('');
      await table.getByRole('link', { name: 'Many' }).waitFor();
      await page.getByRole('group', { name: 'Tags' }).getByText('night').click();
      await table.getByRole('link', { name: 'Many' }).waitFor({ state: 'detached' });
      expect(await table.getByRole('link').allTextContents()).toEqual(['Board']);
      await table.getByRole('link', { name: 'Board' }).click();
      await page.getByRole('heading', { name: 'Board', level: 1 }).waitFor();
    });

    it('renders every tile type with the values of the API', async () => {
      const page = await browser.signIn({ token: acme.token }, `/dashboards/board?${RANGE}`);
      await tile(page, 'lines').locator('canvas').waitFor();
      const lines = await readTileData('lines');
      expect(lines.series.map(({ group }: { group: string[] }) => group[0]).toSorted()).toEqual(['api', 'web']);
      expect((await tile(page, 'lines').getByRole('list').getByRole('button').allTextContents()).toSorted()).toEqual([
        'api',
        'web',
      ]);
      const middle = Math.floor(lines.buckets.length / 2);
      await hoverAt(page, 'lines', lines, lines.buckets[middle]);
      const tip = await tile(page, 'lines').getByTestId('chart-tooltip').textContent();
      for (const { group, values } of lines.series) expect(tip).toContain(`${group[0]}${text(values[middle])}`);

      const bars = await readTileData('bars');
      const withError = bars.series.find(({ group }: { group: string[] }) => group[0] === 'ERROR').values.indexOf(1);
      await hoverAt(page, 'bars', bars, bars.buckets[withError]);
      const barTip = (await tile(page, 'bars').getByTestId('chart-tooltip').textContent()) ?? '';
      for (const { group, values } of bars.series) expect(barTip).toContain(`${group[0]}${text(values[withError])}`);

      expect(await tile(page, 'sum').getByTestId('number').textContent()).toBe(text((await readTileData('sum')).value));
      const share = (await readTileData('ratio')).value;
      expect(share).toBeCloseTo(5 / 60, 10);
      expect(await tile(page, 'ratio').getByTestId('number').textContent()).toBe(`${(share * 100).toFixed(2)}%`);
      expect((await readTileData('memory')).value).toBe(3 * 1024 ** 3);
      expect(await tile(page, 'memory').getByTestId('number').textContent()).toBe('3 GiB');
      await tile(page, 'nothing').getByText('No data in this time range').waitFor();

      const table = await readTileData('table');
      expect(await cells(tile(page, 'table'))).toEqual(
        table.rows.map((row: (string | number)[]) => row.map((cell) => (typeof cell === 'number' ? text(cell) : cell))),
      );
      const search = await readTileData('search');
      const shown = await cells(tile(page, 'search'));
      expect(shown.map(([, ...rest]) => rest)).toEqual(search.rows.map(([, ...rest]: string[]) => rest));
      expect(shown[0]?.[0]).toMatch(/10:24:00$/);

      const notes = tile(page, 'text');
      await notes.getByRole('heading', { name: 'On call' }).waitFor();
      expect(await notes.locator('strong').textContent()).toBe('Ada');
      expect(await notes.getByRole('link').getAttribute('rel')).toBe('noopener noreferrer');
      await tile(page, 'broken').getByRole('alert').getByText('NoSuchColumn').waitFor();
    });

    it('shows all columns of a row of a search on a click', async () => {
      const page = await browser.signIn({ token: acme.token }, `/dashboards/board?${RANGE}`);
      const rowsOf = tile(page, 'search').locator('tbody tr');
      await rowsOf.nth(1).getByText('request', { exact: false }).first().waitFor();
      const shown = (await cells(tile(page, 'search')))[1] ?? [];
      const body = shown.at(-1) ?? '';
      await rowsOf.nth(1).getByText(body, { exact: true }).click();
      const details = tile(page, 'search').getByTestId('row-details');
      await details.waitFor();
      // Neither is a column of the tile.
      const minute = Number(/request (\d+)/.exec(body)?.[1]);
      expect(await details.locator('div', { hasText: "LogAttributes['ms']" }).locator('dd').last().textContent()).toBe(
        String(10 + minute),
      );
      expect(await details.locator('dt', { hasText: 'Timestamp' }).count()).toBe(1);
      expect(await details.textContent()).toContain('Empty: TraceId');
      await expectAccessible(page);
      const toggle = rowsOf.nth(1).getByRole('button');
      expect(await toggle.getAttribute('aria-expanded')).toBe('true');
      await toggle.focus();
      await page.keyboard.press('Enter');
      await details.waitFor({ state: 'detached' });
    });

    it('hides a series through the legend', async () => {
      const page = await browser.signIn(acme.developer, `/dashboards/board?${RANGE}`);
      const entry = tile(page, 'lines').getByRole('button', { name: 'api' });
      await entry.click();
      expect(await entry.getAttribute('aria-pressed')).toBe('false');
      const lines = await readTileData('lines');
      await hoverAt(page, 'lines', lines, lines.buckets[2]);
      expect(await tile(page, 'lines').getByTestId('chart-tooltip').textContent()).not.toContain('api');
    });

    it('resizes a chart with the window without recreating it', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${RANGE}`);
      const canvas = tile(page, 'lines').locator('canvas');
      await canvas.waitFor();
      await canvas.evaluate((element) => element.setAttribute('data-marked', 'yes'));
      const width = () => canvas.evaluate((element) => Number(element.getAttribute('width')));
      const before = await width();
      await page.setViewportSize({ width: 1000, height: 900 });
      await until(width, (now) => now > 0 && now < before, 'the chart does not change its width');
      expect(await canvas.getAttribute('data-marked')).toBe('yes');
    });

    it('zooms by dragging and stores the range in the URL', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${RANGE}`);
      const over = tile(page, 'lines').locator('.u-over');
      const box = await over.boundingBox();
      if (!box) throw new Error('the chart is not visible');
      await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + (box.width * 3) / 4, box.y + box.height / 2, { steps: 6 });
      await page.mouse.up();
      await page.waitForURL((url) => Number(url.searchParams.get('from')) > T0);
      const { searchParams } = new URL(page.url());
      const [from, to] = [Number(searchParams.get('from')), Number(searchParams.get('to'))];
      expect(to - from).toBeGreaterThan(10 * 60_000);
      expect(to - from).toBeLessThan(20 * 60_000);
      await page.getByRole('button', { name: /^Time range: .*10:0/ }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: /^Time range: .*10:0/ }).waitFor();
      expect(new URL(page.url()).searchParams.get('from')).toBe(String(from));
      await page.goBack();
      await page.waitForURL((url) => Number(url.searchParams.get('from')) === T0);
    });

    it('stores time range, time zone and auto-refresh in the URL', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards/board');
      await page.getByRole('button', { name: 'Time range: Last hour' }).click();
      await page.getByRole('button', { name: '24 hours' }).click();
      await page.getByRole('button', { name: 'Time range: Last 24 hours' }).waitFor();
      await page.getByRole('combobox', { name: 'Time zone' }).click();
      await page.getByRole('option', { name: 'UTC' }).click();
      await page.getByRole('combobox', { name: 'Auto-refresh' }).click();
      await page.getByRole('option', { name: 'Every minute' }).click();
      await page.waitForURL(/last=24h/);
      await page.waitForURL(/utc=true/);
      await page.waitForURL(/refresh=1m|refresh=%221m%22/);
    });

    it('loads tiles as they scroll into view, six at a time', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards');
      let running = 0;
      let most = 0;
      const requested = new Set<string>();
      await page.route('**/tiles/*/data*', async (route) => {
        running += 1;
        most = Math.max(most, running);
        requested.add(
          route
            .request()
            .url()
            .replace(/.*tiles\/(.*)\/data.*/, '$1'),
        );
        await delay(120);
        await route.continue();
      });
      page.on('requestfinished', (request) => {
        if (request.url().includes('/tiles/')) running -= 1;
      });
      await page.goto(`${browser.server.url}/dashboards/many?${RANGE}`);
      await tile(page, 'tile-0').locator('canvas').waitFor();
      await until(
        async () => running,
        (count) => count === 0,
        'the first tiles do not load',
      );
      expect(requested.size).toBeGreaterThan(5);
      expect(requested.size).toBeLessThan(24);
      for (const { id } of many.tiles) await tile(page, id).scrollIntoViewIfNeeded();
      await tile(page, 'tile-23').locator('canvas').waitFor();
      expect(requested.size).toBe(24);
      expect(most).toBe(6);
    });

    it('shows a tile full screen and the dashboard in kiosk mode', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${RANGE}`);
      await page.getByRole('button', { name: 'View Rows by service full screen' }).click();
      await page.waitForURL(/tile=lines/);
      const dialog = page.getByRole('dialog', { name: 'Rows by service' });
      await dialog.locator('canvas').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Kiosk mode' }).click();
      await page.waitForURL(/kiosk=true/);
      await page.getByRole('navigation').waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Exit kiosk mode' }).click();
      await page.getByRole('navigation').waitFor();
    });

    it('shows an error in each tile while the engine is down, and recovers', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${RANGE}`);
      await tile(page, 'lines').locator('canvas').waitFor();
      let isDown = true;
      const killing = (async () => {
        while (isDown) {
          for (const pid of listChildren(browser.server.pid)) sendSignal(pid, 'SIGKILL');
          await delay(20);
        }
      })();
      // Use another range: cached results do not need the engine.
      await page.goto(`${browser.server.url}/dashboards/board?from=${T0 - 60_000}&to=${T0 + 1_800_000}&utc=true`);
      await tile(page, 'lines').getByTestId('tile-error').waitFor({ timeout: 25_000 });
      await tile(page, 'sum').getByTestId('tile-error').waitFor({ timeout: 25_000 });
      await tile(page, 'text').getByText('Ada').waitFor();
      await page.getByRole('button', { name: 'View Memory full screen' }).waitFor();
      isDown = false;
      await killing;
      // The server restarts a repeatedly failing engine with a delay.
      const again = tile(page, 'lines').getByRole('button', { name: 'Try again' });
      await until(
        async () => {
          if (await again.isEnabled().catch(() => false)) await again.click();
          await delay(500);
          return tile(page, 'lines').locator('canvas').count();
        },
        (canvases) => canvases === 1,
        'the tile does not recover',
      );
    }, 120_000);

    it('is accessible and fits three widths', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${RANGE}`);
      await tile(page, 'lines').locator('canvas').waitFor();
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await checkWidths(page, 'dashboard-dark');
      await page.emulateMedia({ colorScheme: 'light' });
      await checkWidths(page, 'dashboard');
      await page.goto(`${browser.server.url}/dashboards`);
      await page.getByRole('link', { name: 'Many' }).waitFor();
      await expectAccessible(page);
      await checkWidths(page, 'dashboards');
    });

    /** Moves the pointer to the start of a bucket. */
    async function hoverAt(page: Page, id: string, { start, end }: { start: number; end: number }, at: number) {
      const over = tile(page, id).locator('.u-over');
      await over.scrollIntoViewIfNeeded();
      const box = await over.boundingBox();
      if (!box) throw new Error('the chart is not visible');
      await page.mouse.move(box.x + 1, box.y + box.height / 2);
      await page.mouse.move(box.x + ((at - start) / (end - start)) * box.width + 1, box.y + box.height / 2);
      await tile(page, id).getByTestId('chart-tooltip').waitFor();
    }
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board, many] }, ...others] }, inProcess: false },
);

async function cells(tile: ReturnType<Page['locator']>): Promise<string[][]> {
  await tile.getByRole('table').waitFor();
  const found = await tile.locator('tbody tr').all();
  return Promise.all(found.map((row) => row.getByRole('cell').allTextContents()));
}
