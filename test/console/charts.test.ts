import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { position } from '../support/board.ts';
import {
  checkWidths,
  expectAccessible,
  expectReadable,
  inBrowser,
  type Page,
  waitUntilSettled,
} from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';

const MINUTE = 60_000;
const now = Date.now();

/** Two rows per minute of the last two hours; the groups of `many` are twenty pods. */
const logs = Array.from({ length: 240 }, (_, index) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(now - index * MINUTE * 0.5).toISOString(),
  ServiceName: index % 2 === 0 ? 'api' : 'web',
  Body: 'request',
  ResourceAttributes: { pod: `pod-${index % 20}` },
}));
const spans = [120, 2_500, 15].map((ms, index) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(now - (index + 1) * 5 * MINUTE).toISOString(),
  ServiceName: ['api', 'web', 'mail'][index],
  Duration: ms * 1e6,
}));

const tile = (id: string, at: object, series: object, more: object = {}) => ({
  id,
  name: id,
  ...at,
  ...more,
  series: [series],
});
const count = { type: 'time', aggFn: 'count', sourceId: 'logs' };
/** In the format of ClickStack. */
const configured = (id: string, at: object, given: object) => ({ id, name: id, ...at, config: given });
const config = { sourceId: 'logs', select: [{ aggFn: 'count' }] };
const board = {
  id: 'charts',
  name: 'Charts',
  tiles: [
    tile('lines', position(0, 0, 12, 6), { ...count, groupBy: ['ServiceName'] }),
    tile('bars', position(12, 0, 12, 6), { ...count, groupBy: ['ServiceName'], displayType: 'stacked_bar' }),
    tile('many', position(0, 6, 12, 8), { ...count, groupBy: ["ResourceAttributes['pod']"] }),
    tile('slow', position(12, 6, 12, 4), {
      type: 'time',
      aggFn: 'max',
      field: 'Duration',
      sourceId: 'traces',
    }),
    tile('slowest', position(12, 10, 6, 4), { type: 'number', aggFn: 'max', field: 'Duration', sourceId: 'traces' }),
    tile('none', position(18, 10, 6, 4), { type: 'number', aggFn: 'count', where: 'Body:"never"', sourceId: 'logs' }),
    {
      id: 'table',
      name: 'table',
      ...position(0, 14, 24, 6),
      series: [
        {
          type: 'table',
          aggFn: 'max',
          field: 'Duration',
          alias: 'longest',
          sourceId: 'traces',
          groupBy: ['ServiceName'],
        },
        { type: 'table', aggFn: 'count', alias: 'spans', sourceId: 'traces', groupBy: ['ServiceName'] },
      ],
    },
    configured('areas', position(0, 20, 8, 6), { ...config, displayType: 'stacked_line', groupBy: 'ServiceName' }),
    configured('pie', position(8, 20, 8, 6), { ...config, displayType: 'pie', groupBy: 'ServiceName' }),
    configured('columns', position(16, 20, 8, 6), { ...config, displayType: 'bar', groupBy: 'ServiceName' }),
    configured('values', position(0, 26, 8, 6), {
      displayType: 'histogram',
      sourceId: 'traces',
      select: [{ valueExpression: 'Duration' }],
    }),
    configured('heat', position(8, 26, 8, 6), {
      displayType: 'heatmap',
      sourceId: 'traces',
      select: [{ valueExpression: 'Duration', heatmapScaleType: 'log' }],
    }),
    configured('formula', position(16, 26, 8, 6), {
      ...config,
      displayType: 'number',
      formulas: [{ expression: 'A * 2' }],
    }),
  ],
};
const [organization, ...others] = fleet.organizations;

inBrowser(
  'charts',
  (browser) => {
    beforeAll(() => fillEngine(join(browser.server.directory, 'data'), { otel_logs: logs, otel_traces: spans }));

    const tileAt = (page: Page, id: string) => page.locator(`[data-tile="${id}"]`);

    /** Opens the board and returns the data that a tile got. */
    async function openBoard(id: string, { width = 1280, query = 'last=1h' } = {}) {
      const page = await browser.signIn(acme.admin, '/dashboards', { width });
      const response = page.waitForResponse((one) => one.url().includes(`/tiles/${id}/data`) && one.ok());
      await page.goto(`${browser.server.url}/dashboards/charts?${query}`);
      const { data } = (await (await response).json()) as { data: { buckets: number[]; start: number; end: number } };
      return { page, data, url: new URL((await response).url()) };
    }

    async function hoverBucket(page: Page, id: string, { start, end }: { start: number; end: number }, at: number) {
      const over = tileAt(page, id).locator('.u-over');
      await over.scrollIntoViewIfNeeded();
      const box = await over.boundingBox();
      if (!box) throw new Error('the chart is not visible');
      await page.mouse.move(box.x + 1, box.y + box.height / 2);
      await page.mouse.move(box.x + ((at - start) / (end - start)) * box.width + 1, box.y + box.height / 2);
      return tileAt(page, id).getByTestId('chart-tooltip').textContent();
    }

    it('marks the newest bucket of lines and bars as incomplete, and no other', async () => {
      const { page, data } = await openBoard('lines');
      await tileAt(page, 'lines').locator('canvas').waitFor();
      await tileAt(page, 'lines').getByText('Incomplete').waitFor();
      await tileAt(page, 'bars').getByText('Incomplete').waitFor();
      expect(await hoverBucket(page, 'lines', data, data.buckets.at(-1) ?? 0)).toMatch(/Incomplete: .+ of /);
      expect(await hoverBucket(page, 'lines', data, data.buckets.at(-3) ?? 0)).not.toContain('Incomplete');
      await checkWidths(page, 'charts');
      await page.emulateMedia({ colorScheme: 'dark' });
      await checkWidths(page, 'charts-dark');
      await expectReadable(page);
    });

    it('a range in the past has no incomplete bucket', async () => {
      const { page } = await openBoard('lines', { query: `from=${now - 90 * MINUTE}&to=${now - 30 * MINUTE}` });
      await tileAt(page, 'lines').locator('canvas').waitFor();
      await waitUntilSettled(page);
      expect(await page.getByText('Incomplete').count()).toBe(0);
    });

    it('requests as many points as the width of the chart has room for', async () => {
      const phone = await openBoard('lines', { width: 390, query: 'last=24h' });
      const wide = await openBoard('lines', { width: 1600, query: 'last=24h' });
      const points = [phone, wide].map(({ url }) => Number(url.searchParams.get('points')));
      expect(points[0]).toBeLessThan(points[1] ?? 0);
      expect(phone.data.buckets.length).toBeLessThanOrEqual((points[0] ?? 0) + 1);
      expect(wide.data.buckets.length).toBeGreaterThan(phone.data.buckets.length);
      const fullScreen = wide.page.waitForResponse((one) => one.url().includes('/tiles/lines/data'));
      await wide.page.getByRole('button', { name: 'View lines full screen' }).click();
      expect(Number(new URL((await fullScreen).url()).searchParams.get('points'))).toBeGreaterThan(points[1] ?? 0);
    });

    it('formats durations by the unit of the source: number, table and tooltip', async () => {
      const { page, data } = await openBoard('slow');
      expect(await tileAt(page, 'slowest').getByTestId('number').textContent()).toBe('2.5 s');
      await tileAt(page, 'table').scrollIntoViewIfNeeded();
      await tileAt(page, 'table').getByRole('cell', { name: '120 ms' }).waitFor();
      await tileAt(page, 'slow').locator('canvas').waitFor();
      const bucket = data.buckets.findLast((at) => at <= now - 5 * MINUTE) ?? 0;
      expect(await hoverBucket(page, 'slow', data, bucket)).toContain('120 ms');
    });

    it('draws pies, bars, histograms, heatmaps and stacked areas, with their numbers as text', async () => {
      const { page } = await openBoard('lines', { query: `from=${now - 60 * MINUTE}&to=${now}` });
      await tileAt(page, 'values').scrollIntoViewIfNeeded();
      const pie = tileAt(page, 'pie');
      await pie.getByRole('img', { name: /2 parts/ }).waitFor();
      expect(await pie.getByRole('row').allTextContents()).toEqual([
        expect.stringMatching(/^(api|web)6\d50%$/),
        expect.stringMatching(/^(api|web)6\d50%$/),
      ]);
      await tileAt(page, 'columns')
        .getByRole('row', { name: /^api 6\d$/ })
        .waitFor();
      await tileAt(page, 'values')
        .getByRole('img', { name: /^values: 3 values of Duration from / })
        .waitFor();
      await tileAt(page, 'heat')
        .getByRole('img', { name: /Duration by time/ })
        .waitFor();
      await tileAt(page, 'areas').locator('canvas').waitFor();
      await tileAt(page, 'formula')
        .getByText(/cannot apply it/)
        .waitFor();
      await expectAccessible(page);
    });

    it('a count of nothing is 0', async () => {
      const { page } = await openBoard('lines');
      expect(await tileAt(page, 'none').getByTestId('number').textContent()).toBe('0');
    });

    it('sorts a table by its columns, with the mouse and the keyboard', async () => {
      const { page } = await openBoard('lines');
      const table = tileAt(page, 'table').getByRole('table');
      await tileAt(page, 'table').scrollIntoViewIfNeeded();
      const names = () => table.locator('tbody tr td:first-child').allTextContents();
      await table.getByRole('cell', { name: 'mail' }).waitFor();
      expect(await names()).toEqual(['web', 'api', 'mail']);
      const header = (name: string) => table.getByRole('columnheader', { name });
      await header('ServiceName').getByRole('button').click();
      expect([await names(), await header('ServiceName').getAttribute('aria-sort')]).toEqual([
        ['api', 'mail', 'web'],
        'ascending',
      ]);
      await header('longest').getByRole('button').focus();
      await page.keyboard.press('Enter');
      expect([await names(), await header('longest').getAttribute('aria-sort')]).toEqual([
        ['web', 'api', 'mail'],
        'descending',
      ]);
      await page.keyboard.press('Enter');
      expect(await names()).toEqual(['mail', 'api', 'web']);
      expect(await header('ServiceName').getAttribute('aria-sort')).toBe('none');
    });

    it('twenty series have different colors in the legend', async () => {
      const { page } = await openBoard('many');
      const swatches = tileAt(page, 'many').getByRole('list', { name: 'Series' }).locator('button > span:first-child');
      await swatches.first().waitFor();
      const backgrounds = await swatches.evaluateAll((all) => all.map((one) => one.getAttribute('style') ?? ''));
      expect(new Set(backgrounds).size).toBe(20);
      expect(backgrounds.filter((one) => one.includes('gradient'))).toHaveLength(10);
    });
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] } },
);
