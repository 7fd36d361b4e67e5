import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { position, RANGE, rows } from '../support/board.ts';
import { expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';
import { until } from '../support/until.ts';

const logs = (series: object) => ({ sourceId: 'logs', ...series });
const stacked = (displayType: string) => logs({ type: 'time', aggFn: 'count', groupBy: ['ServiceName'], displayType });

const board = {
  id: 'shared',
  name: 'Shared time',
  tiles: [
    {
      id: 'lines',
      name: 'Lines',
      ...position(0, 0, 12, 6),
      series: [logs({ type: 'time', aggFn: 'count', groupBy: ['SeverityText'] })],
    },
    {
      id: 'heat',
      name: 'Heat',
      ...position(12, 0, 12, 6),
      series: [logs({ type: 'heatmap', field: "LogAttributes['ms']" })],
    },
    {
      id: 'groups',
      name: 'Groups',
      ...position(0, 6, 12, 6),
      series: [logs({ type: 'heatmap', aggFn: 'count', groupBy: ['ServiceName'] })],
    },
    { id: 'bars', name: 'Bars', ...position(12, 6, 12, 6), series: [stacked('stacked_bar')] },
    { id: 'areas', name: 'Areas', ...position(0, 12, 12, 6), series: [stacked('stacked_line')] },
  ],
};
const MINUTE = 60_000;
/** In the half hour before, each minute has one row of api, two of a service that is gone, and none of web. */
const earlier = rows.otel_logs
  .filter(({ ServiceName }) => ServiceName === 'api')
  .flatMap((row) => {
    const moved = { ...row, Timestamp: new Date(Date.parse(row.Timestamp) - 30 * MINUTE).toISOString() };
    return [moved, { ...moved, ServiceName: 'gone' }, { ...moved, ServiceName: 'gone' }];
  });
/** What the test needs of an HTMLCanvasElement. */
interface Canvas {
  width: number;
  getContext(kind: '2d'): { getImageData(x: number, y: number, w: number, h: number): { data: ArrayLike<number> } };
}

const [organization, ...others] = fleet.organizations;

inBrowser(
  'time on a dashboard',
  (browser) => {
    beforeAll(() =>
      fillEngine(join(browser.server.directory, 'data'), { ...rows, otel_logs: [...rows.otel_logs, ...earlier] }),
    );

    const tile = (page: Page, id: string) => page.locator(`[data-tile="${id}"]`);
    const open = async (query = RANGE) => {
      const page = await browser.signIn({ token: acme.token }, `/dashboards/shared?${query}`, { height: 1300 });
      for (const { id } of board.tiles) await tile(page, id).locator('.u-over').waitFor();
      return page;
    };
    /** Moves the pointer to a share of the width of a chart. */
    async function point(page: Page, id: string, share: number) {
      const box = await tile(page, id).locator('.u-over').boundingBox();
      if (!box) throw new Error('the chart is not visible');
      await page.mouse.move(box.x + 5, box.y + box.height / 2);
      await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    }
    /** The share of the width of a chart at which its crosshair is. */
    async function lineAt(page: Page, id: string) {
      const [over, line] = await Promise.all(
        ['.u-over', '.u-cursor-x'].map((part) => tile(page, id).locator(part).boundingBox()),
      );
      return over && line ? (line.x - over.x) / over.width : -1;
    }

    it('heatmaps show the instant under the pointer in other charts, and the others that of a heatmap', async () => {
      const page = await open();
      const ids = ['lines', 'heat', 'groups', 'bars'];
      for (const [from, share, tooltip] of [
        ['lines', 0.4, 'chart-tooltip'],
        ['heat', 0.7, 'heatmap-tooltip'],
        ['groups', 0.2, 'heatmap-tooltip'],
      ] as const) {
        await point(page, from, share);
        await tile(page, from).getByTestId(tooltip).waitFor();
        for (const id of ids) expect(await lineAt(page, id), `${from} → ${id}`).toBeCloseTo(share, 1);
        expect(await page.getByTestId('chart-tooltip').or(page.getByTestId('heatmap-tooltip')).count()).toBe(1);
        await page.mouse.move(2, 2);
        await tile(page, from).getByTestId(tooltip).waitFor({ state: 'detached' });
        for (const id of ids) expect(await lineAt(page, id), `after ${from}: ${id}`).toBeLessThan(0);
      }
      await expectAccessible(page);
    });

    /** Pixels of the dashed total between the axes of a chart. No series has the color of text. */
    async function countTotalPixels(page: Page, id: string): Promise<number> {
      const canvas = tile(page, id).locator('canvas');
      const [outer, over] = await Promise.all(
        [canvas, tile(page, id).locator('.u-over')].map((one) => one.boundingBox()),
      );
      if (!outer || !over) return -1;
      const area = { left: over.x - outer.x + 1, top: over.y - outer.y, width: over.width - 2, height: over.height };
      return canvas.evaluate(
        (element, { left, top, width, height, outerWidth }) => {
          const drawn = element as unknown as Canvas;
          const scale = drawn.width / outerWidth;
          const [x, y, w, h] = [left, top, width, height].map((one) => Math.round(one * scale));
          const { data } = drawn.getContext('2d').getImageData(x ?? 0, y ?? 0, w ?? 0, h ?? 0);
          let count = 0;
          for (let at = 0; at < data.length; at += 4)
            if ([0x56, 0x61, 0x6b].every((part, index) => Math.abs((data[at + index] ?? 0) - part) < 4)) count += 1;
          return count;
        },
        { ...area, outerWidth: outer.width },
      );
    }

    it('draws the total of the previous period over stacked bars and areas', async () => {
      const page = await open();
      const ids = ['bars', 'areas'];
      for (const id of ids) expect(await countTotalPixels(page, id), id).toBe(0);
      await page.getByLabel('Compare with previous period').click();
      for (const id of ids) {
        await tile(page, id)
          .getByText(/^Dashed: total of the previous period, .* 09:30 – .* 10:00$/)
          .waitFor();
        await until(
          () => countTotalPixels(page, id),
          (pixels) => pixels > 50,
          `${id} has no total`,
        );
        const total = (text: string) => tile(page, id).getByTestId('chart-tooltip').getByText(text, { exact: true });
        const legend = tile(page, id).getByRole('list', { name: 'Series' });
        const hover = async () => {
          const over = tile(page, id).locator('.u-over');
          await over.hover({ position: { x: 60, y: 20 } });
          await over.hover({ position: { x: 3, y: 20 } });
        };
        await hover();
        await total('Total2before 3').waitFor();
        await legend.getByRole('button', { name: 'web' }).click();
        await hover();
        await total('Total1before 3').waitFor();
        await legend.getByRole('button', { name: 'web' }).click();
        await legend.getByRole('button', { name: 'api' }).click();
        await hover();
        await total('Total1before 2').waitFor();
        await legend.getByRole('button', { name: 'api' }).click();
      }
      await expectAccessible(page);
      // Above the stack, where only the total of the previous period is.
      await tile(page, 'bars')
        .locator('.u-over')
        .click({ position: { x: 5, y: 15 } });
      await page.getByRole('menu', { name: /^(api|web) at / }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByLabel('Compare with previous period').click();
      for (const id of ids) {
        await tile(page, id).getByTestId('previous-period').waitFor({ state: 'detached' });
        await until(
          () => countTotalPixels(page, id),
          (pixels) => pixels === 0,
          `${id} still has a total`,
        );
      }
    });
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] } },
);
