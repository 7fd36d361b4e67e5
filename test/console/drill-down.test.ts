import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { listValueRows } from '../../console/src/pages/dashboards/drill-down/drill-down.ts';
import { position, T0 } from '../support/board.ts';
import { checkWidths, expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';

type Tile = Parameters<typeof listValueRows>[0];

const MINUTE = 60_000;
const RANGE = { start: T0, end: T0 + 30 * MINUTE };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
/** Texts that look like other types, are empty, or would end a quoted text. */
const GROUPS = ['plain', '', '500', '3.14', '1e3', 'true', 'null', 'nan', '[1]', "{'a':1}", 'it\'s \\ "q"\n\' OR 1=1'];

/** The n-th group has n + 1 rows, one of them at the end of its bucket. */
const logs = GROUPS.flatMap((group, index) =>
  Array.from({ length: index + 1 }, (_, row) => ({
    OrganizationId: acme.id,
    Timestamp: new Date(T0 + (row === 0 ? 5 * MINUTE - 1 : row * 400)).toISOString(),
    ServiceName: group,
    SeverityText: row % 2 === 0 ? 'ERROR' : 'INFO',
    SeverityNumber: row % 2 === 0 ? 17 : 9,
    Body: `row ${row}`,
    TraceId: group === 'plain' ? TRACE : '',
    LogAttributes: { group, ...(row % 2 === 0 ? { ms: row % 4 === 0 ? '1.5' : 'slow' } : {}) },
  })),
);
const spans = [3, 7].map((minute) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(T0 + minute * MINUTE).toISOString(),
  ServiceName: 'shop',
  SpanName: 'GET /cart',
  TraceId: TRACE,
  SpanId: `000000000000000${minute}`,
  Duration: minute * 1e6,
}));

const count = { type: 'time', aggFn: 'count', sourceId: 'logs' };
const tile = (id: string, at: object, series: object[], more: object = {}) => ({
  id,
  name: id,
  ...at,
  series,
  ...more,
});
const board = {
  id: 'drill',
  name: 'Drill',
  tiles: [
    tile('lines', position(0, 0, 12, 6), [{ ...count, where: 'SeverityText:"ERROR"', groupBy: ['ServiceName'] }]),
    tile('bars', position(12, 0, 12, 6), [
      { ...count, groupBy: ["LogAttributes['group']"], displayType: 'stacked_bar' },
    ]),
    tile('rows', position(0, 6, 6, 4), [
      { ...count, type: 'number', where: "SeverityText = 'INFO'", whereLanguage: 'sql' },
    ]),
    tile('table', position(6, 6, 6, 4), [{ ...count, type: 'table', groupBy: ['SeverityText'] }]),
    tile('gauge', position(12, 6, 6, 4), [
      { type: 'time', aggFn: 'avg', sourceId: 'metrics', metricName: 'memory', metricDataType: 'gauge' },
    ]),
    tile('spans', position(18, 6, 6, 4), [{ ...count, sourceId: 'traces', groupBy: ['SpanName'] }]),
    tile(
      'ratio',
      position(0, 10, 12, 4),
      [
        { ...count, where: 'SeverityText:"ERROR"', groupBy: ['SeverityText'] },
        { ...count, groupBy: ['SeverityText'] },
      ],
      { asRatio: true },
    ),
    // Each row counts in exactly one point of these.
    ...[
      ['SeverityNumber'],
      ['SeverityNumber / 2'],
      ["nullIf(SeverityText, 'INFO')"],
      ['lower(ServiceName)', "LogAttributes['group']"],
      ['LogAttributes'],
      ['Timestamp'],
    ].map((groupBy, index) => tile(`exact-${index}`, position(0, 14, 4, 4), [{ ...count, groupBy }])),
    tile('two', position(12, 10, 12, 4), [
      { ...count, where: 'SeverityText:"nothing"', groupBy: ['SeverityText'], alias: 'same' },
      { ...count, where: 'SeverityText:"INFO"', groupBy: ['SeverityText'], alias: 'same' },
    ]),
  ],
};
const [organization, ...others] = fleet.organizations;

interface TimeData {
  start: number;
  end: number;
  buckets: number[];
  series: { seriesIndex: number; group: string[]; values: number[] }[];
}

inBrowser(
  'from a value to its rows',
  (browser) => {
    beforeAll(() => fillEngine(join(browser.server.directory, 'data'), { otel_logs: logs, otel_traces: spans }));

    const get = async (path: string) => (await browser.server.call({ path, token: acme.token })).json.data;
    const readTile = (id: string): Promise<TimeData> =>
      get(`/api/v2/dashboards/drill/tiles/${id}/data?start=${RANGE.start}&end=${RANGE.end}&granularity=5m&groups=500`);

    interface Search {
      source?: string;
      where?: string;
      lang?: 'sql';
      filters?: string[];
      from?: number;
      to?: number;
    }

    async function countRows({ source, where, lang, filters = [], from = 0, to = 0 }: Search): Promise<number> {
      const body = {
        sourceId: source,
        where,
        whereLanguage: lang ?? 'lucene',
        filters: filters.map((condition) => ({ type: 'sql', condition })),
        startTime: new Date(from).toISOString(),
        endTime: new Date(to).toISOString(),
        maxResults: 2000,
      };
      const { status, json } = await browser.server.call({
        method: 'POST',
        path: '/api/v2/search',
        token: acme.token,
        body,
      });
      expect(status, JSON.stringify([body, json])).toBe(200);
      return json.rows;
    }

    describe('the search of a point has as many rows as the point counts', () => {
      const ids = board.tiles.map(({ id }) => id).filter((id) => /^(lines|bars|spans|two|exact-)/.test(id));
      it.each(ids)('%s', async (id) => {
        const sources = await get('/api/v2/sources');
        const { tiles }: { tiles: Tile[] } = await get('/api/v2/dashboards/drill');
        const shown = tiles.find((one) => one.id === id) as Tile;
        const data = await readTile(id);
        expect(data.series.length).toBeGreaterThan(0);
        for (const { seriesIndex, group, values } of data.series) {
          for (const [index, value] of values.entries()) {
            const range = { start: data.buckets[index] ?? 0, end: data.buckets[index + 1] ?? data.end };
            const [rows] = listValueRows(shown, { seriesIndex, group, range }, sources);
            // Most buckets are empty, which one of them shows.
            if (value === 0 && index > 1) continue;
            expect([group, await countRows(rows?.search ?? {})]).toEqual([group, value]);
          }
        }
      });

      it('an aggregation of an attribute leads to the rows that have it', async () => {
        const sources = await get('/api/v2/sources');
        const aggregate = (aggFn: string) =>
          listValueRows(
            { series: [{ ...count, aggFn, field: "LogAttributes['ms']", where: '', groupBy: [] }] } as unknown as Tile,
            { range: RANGE },
            sources,
          )[0]?.search ?? {};
        const having = (test: (ms: string | undefined) => boolean) =>
          logs.filter(({ LogAttributes }) => test((LogAttributes as { ms?: string }).ms)).length;
        expect(await countRows(aggregate('avg'))).toBe(having((ms) => ms === '1.5'));
        expect(await countRows(aggregate('count_distinct'))).toBe(having((ms) => ms !== undefined));
        expect(await countRows(aggregate('count'))).toBe(logs.length);
      });
    });

    const tileAt = (page: Page, id: string) => page.locator(`[data-tile="${id}"]`);

    async function openBoard() {
      const page = await browser.signIn(acme.admin, '/dashboards');
      const responses = ['lines', 'bars'].map((id) => page.waitForResponse((one) => one.url().includes(`/${id}/data`)));
      await page.goto(`${browser.server.url}/dashboards/drill?from=${RANGE.start}&to=${RANGE.end}&utc=true`);
      const [lines, bars] = await Promise.all(
        responses.map(async (one): Promise<TimeData> => (await (await one).json()).data),
      );
      await tileAt(page, 'bars').locator('canvas').waitFor();
      return { page, lines, bars };
    }

    /** Clicks into the first bucket of a chart, at a height from 0 (the bottom) to 1. */
    async function clickFirstBucket(page: Page, id: string, height: number) {
      const over = tileAt(page, id).locator('.u-over');
      await over.scrollIntoViewIfNeeded();
      const box = await over.boundingBox();
      if (!box) throw new Error('the chart is not visible');
      await page.mouse.move(box.x + 20, box.y + 5);
      await page.mouse.click(box.x + 2, box.y + box.height * (1 - height));
      return page.getByRole('menu');
    }

    async function readProgress(page: Page): Promise<string | null> {
      await page.getByTestId('progress').getByText('Searched the whole range').waitFor();
      return page.getByTestId('progress').textContent();
    }
    const format = (rows: number | undefined) => `${rows} row${rows === 1 ? '' : 's'}. Searched the whole range`;

    it('a click on a line opens the rows of its point', async () => {
      const { page, lines } = await openBoard();
      const menu = await clickFirstBucket(page, 'lines', 0.94);
      // The largest group is the first series and the highest line.
      const [largest] = lines?.series ?? [];
      expect(await menu.getAttribute('aria-label')).toContain(largest?.group[0]);
      await menu.getByRole('menuitem', { name: 'Rows', exact: true }).click();
      expect(await readProgress(page)).toBe(format(largest?.values[0]));
      const url = new URL(page.url());
      expect(['from', 'to'].map((name) => url.searchParams.get(name))).toEqual(lines?.buckets.slice(0, 2).map(String));
      expect(url.searchParams.get('where')).toBe('SeverityText:"ERROR"');
      await page.goBack();
      await tileAt(page, 'lines').locator('canvas').waitFor();
    });

    it('a click on a part of a bar opens the rows of that part', async () => {
      const { page, bars } = await openBoard();
      const counts = bars?.series.map(({ values }) => values[0] ?? 0) ?? [];
      const sum = counts.reduce((total, one) => total + one, 0);
      // The first series is at the top. The axis ends 6% above the highest bar.
      const menu = await clickFirstBucket(page, 'bars', (sum - (counts[0] ?? 0) - (counts[1] ?? 0) / 2) / sum / 1.06);
      await menu.getByRole('menuitem', { name: 'Rows', exact: true }).waitFor();
      await expectAccessible(page);
      await menu.getByRole('menuitem', { name: 'Rows', exact: true }).click();
      expect(await readProgress(page)).toBe(format(counts[1]));
    });

    it('leads to the traces of spans, and of logs with trace ids', async () => {
      const { page } = await openBoard();
      await tileAt(page, 'spans').getByRole('button', { name: 'Rows of spans' }).click();
      await page.getByRole('menuitem', { name: 'Traces' }).click();
      await page.waitForURL((url) => url.pathname === '/traces' && url.searchParams.get('from') === String(T0));
      await page.getByText('GET /cart').first().waitFor();
      await page.goBack();
      await tileAt(page, 'table').getByRole('button', { name: 'Rows of table' }).click();
      await page.getByRole('menuitem', { name: 'Traces' }).click();
      await page.waitForURL((url) => url.searchParams.get('where') === `TraceId IN ('${TRACE}')`);
      await page.getByText('GET /cart').first().waitFor();
    });

    it('numbers, tables and ratios lead to the rows of the whole range, with the keyboard; metrics do not', async () => {
      const { page } = await openBoard();
      await tileAt(page, 'rows').getByRole('button', { name: 'Rows of rows' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Rows', exact: true }).waitFor();
      const shown = await tileAt(page, 'rows').getByTestId('number').textContent();
      await page.keyboard.press('Enter');
      expect(await readProgress(page)).toBe(format(Number(shown)));
      await page.goBack();
      await tileAt(page, 'ratio').getByRole('button', { name: 'Rows of ratio' }).click();
      await page.getByRole('menuitem', { name: 'Rows of the numerator' }).waitFor();
      await page.getByRole('menuitem', { name: 'Rows of the denominator' }).waitFor();
      await page.keyboard.press('Escape');
      expect(await tileAt(page, 'gauge').getByRole('button', { name: 'Rows of gauge' }).count()).toBe(0);
    });

    it('looks right', async () => {
      const { page } = await openBoard();
      await clickFirstBucket(page, 'lines', 0.93);
      await page.getByRole('menuitem', { name: 'Rows', exact: true }).waitFor();
      await checkWidths(page, 'drill-down');
    });
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] } },
);
