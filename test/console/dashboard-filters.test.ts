import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { position, RANGE, rows, T0 } from '../support/board.ts';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import type { Json } from '../support/client.ts';
import { parseCsv } from '../support/csv.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';

const MINUTE = 60_000;
const logs = (series: object) => ({ sourceId: 'logs', ...series });
const count = logs({ type: 'number', aggFn: 'count' });

const board = {
  id: 'filtered',
  name: 'Filtered',
  filters: [
    { id: 'service', type: 'QUERY_EXPRESSION', name: 'Service', expression: 'ServiceName', sourceId: 'logs' },
    {
      id: 'severity',
      type: 'STATIC_LIST',
      name: 'Severity',
      options: ['INFO', 'ERROR'],
      expression: 'SeverityText',
      variableName: 'severity',
      maxSelections: 1,
    },
    { id: 'job', type: 'PROMETHEUS_LABEL', name: 'Job', sourceId: 'metrics', label: 'job' },
  ],
  tiles: [
    {
      id: 'lines',
      name: 'Rows by service',
      ...position(0, 0, 12, 7),
      series: [logs({ type: 'time', aggFn: 'count', groupBy: ['ServiceName'] })],
    },
    {
      id: 'bars',
      name: 'Rows by severity',
      ...position(12, 0, 12, 7),
      series: [logs({ type: 'time', aggFn: 'count', groupBy: ['SeverityText'], displayType: 'stacked_bar' })],
    },
    { id: 'total', name: 'Rows', ...position(0, 7, 6, 4), series: [count] },
    {
      id: 'memory',
      name: 'Memory',
      ...position(6, 7, 6, 4),
      series: [
        { type: 'number', aggFn: 'max', sourceId: 'metrics', metricName: 'memory', numberFormat: { output: 'byte' } },
      ],
    },
    { id: 'all', name: 'All rows', ...position(12, 7, 6, 4), ignoresFilters: true, series: [count] },
    {
      id: 'web',
      name: 'Rows of web',
      ...position(18, 7, 6, 4),
      series: [logs({ type: 'number', aggFn: 'count', where: 'ServiceName:"web"' })],
    },
    {
      id: 'slow',
      name: 'Time of web',
      ...position(0, 11, 12, 6),
      series: [logs({ type: 'time', aggFn: 'max', field: "LogAttributes['ms']", where: 'ServiceName:"web"' })],
    },
    {
      id: 'rows',
      name: 'Rows of logs',
      ...position(12, 11, 12, 6),
      series: [logs({ type: 'search', fields: ['ServiceName', 'Body'] })],
    },
  ],
};
const saved = {
  ...board,
  id: 'saved',
  name: 'Saved',
  savedQuery: 'SeverityText:"ERROR"',
  savedFilterValues: [{ type: 'sql', condition: "ServiceName IN ('api')" }],
  filters: [board.filters[0], { ...board.filters[1], appliesToSourceIds: ['logs', 'traces'] }],
};
const hostile = {
  id: 'hostile',
  name: 'Hostile',
  tiles: [
    {
      id: 'spans',
      name: '=Spans, "all"',
      ...position(0, 0, 12, 6),
      series: [
        {
          type: 'time',
          aggFn: 'max',
          field: 'Duration',
          sourceId: 'traces',
          groupBy: ['ServiceName'],
          where: '',
        },
      ],
    },
    {
      id: 'table',
      name: 'Table',
      ...position(12, 0, 12, 6),
      series: [{ type: 'table', aggFn: 'max', field: 'Duration', sourceId: 'traces', groupBy: ['ServiceName'] }],
    },
  ],
};
/** Half as many rows of api in the half hour before; none of web. */
const earlier = rows.otel_logs
  .filter(({ ServiceName }, index) => ServiceName === 'api' && index % 4 === 0)
  .map((row) => ({ ...row, Timestamp: new Date(Date.parse(row.Timestamp) - 30 * MINUTE).toISOString() }));
const otel_traces = ['=HYPERLINK("http://x")', 'a,"b"'].map((ServiceName, index) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(T0 + 5 * MINUTE).toISOString(),
  TraceId: `trace-${index}`,
  SpanId: `span-${index}`,
  SpanName: 'x',
  ServiceName,
  Duration: 1_000_000 * (index + 1),
}));
const [organization, ...others] = fleet.organizations;

inBrowser(
  'filters of a dashboard',
  (browser) => {
    beforeAll(() =>
      fillEngine(join(browser.server.directory, 'data'), {
        ...rows,
        otel_logs: [...rows.otel_logs, ...earlier],
        otel_traces,
        otel_metrics_sum: [{ ...rows.otel_metrics_gauge[0], MetricName: 'requests' }],
      }),
    );

    const tile = (page: Page, id: string) => page.locator(`[data-tile="${id}"]`);
    const number = (page: Page, id: string, text: string) =>
      tile(page, id).getByTestId('number').getByText(text, { exact: true }).waitFor();
    const bar = (page: Page) => page.getByRole('region', { name: 'Filters' });
    const choose = async (page: Page, label: string, value: string) => {
      await bar(page).getByRole('combobox', { name: label, exact: true }).click();
      await page.getByRole('option', { name: value, exact: true }).click();
      await page.keyboard.press('Escape');
    };
    const apply = async (page: Page, query: string) => {
      await bar(page).getByLabel('Query for all tiles').fill(query);
      await page.keyboard.press('Enter');
    };
    const open = async (id = 'filtered', query = RANGE) => {
      const page = await browser.signIn({ token: acme.token }, `/dashboards/${id}?${query}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      return page;
    };

    it('a variable filters the tiles whose source has the field; the others say so; the link reproduces it', async () => {
      const page = await open();
      await number(page, 'total', '60');
      await choose(page, 'Severity', 'ERROR');
      await number(page, 'total', '5');
      await number(page, 'memory', '3 GiB');
      await tile(page, 'memory')
        .getByRole('note')
        .getByText(/^Not filtered by Severity: Unknown column "SeverityText"/)
        .waitFor();
      await page.getByRole('button', { name: 'Clear Severity' }).click();
      await choose(page, 'Service', 'api');
      await number(page, 'total', '30');
      await number(page, 'web', '0');
      await tile(page, 'lines').locator('canvas').waitFor();
      await tile(page, 'lines').getByRole('list', { name: 'Series' }).waitFor({ state: 'detached' });
      await number(page, 'all', '60');
      await tile(page, 'all').getByText('Not filtered: this tile ignores filters').waitFor();
      // Metrics have a service, too, and this one is of none.
      await tile(page, 'memory').getByText('No data in this time range').waitFor();
      await bar(page).getByText('Not applied here, but kept for other clients: Job').waitFor();
      await choose(page, 'Severity', 'ERROR');
      await number(page, 'total', '5');
      const again = await browser.signIn({ token: acme.token }, page.url());
      await number(again, 'total', '5');
      await again.getByRole('button', { name: 'Clear Severity' }).click();
      await number(again, 'total', '30');
      await choose(again, 'Service', 'web');
      await number(again, 'total', '60');
      expect(new URL(again.url()).searchParams.get('vars')).toBe('{"service":["api","web"]}');
    });

    it('one query filters all tiles, in Lucene or SQL, and says what is wrong with it', async () => {
      const page = await open();
      await apply(page, 'SeverityText:"ERROR"');
      await number(page, 'total', '5');
      await tile(page, 'memory')
        .getByText(/^Not filtered by the query: Unknown column/)
        .waitFor();
      expect(new URL(page.url()).searchParams.get('where')).toBe('SeverityText:"ERROR"');
      await tile(page, 'rows').scrollIntoViewIfNeeded();
      await tile(page, 'rows').getByText('request 24 of api').click();
      await tile(page, 'rows').getByTestId('row-details').waitFor();
      await bar(page).getByText('SQL', { exact: true }).click();
      await apply(page, "ServiceName = 'web' OR Body = 'request 0 of api'");
      await number(page, 'total', '31');
      await apply(page, "ServiceName = 'web");
      await bar(page)
        .getByText(/closing/)
        .waitFor();
      await tile(page, 'total').getByTestId('tile-error').waitFor();
      await page.goBack();
      await number(page, 'total', '31');
      await bar(page).getByRole('button', { name: 'Clear', exact: true }).click();
      await number(page, 'total', '60');
      expect(new URL(page.url()).searchParams.has('where')).toBe(false);
    });

    it('a variable has the values of metrics of all types, or of one', async () => {
      const metric = { type: 'QUERY_EXPRESSION', expression: 'MetricName', sourceId: 'metrics' };
      const created = await browser.server.call({
        method: 'POST',
        path: '/api/v2/dashboards',
        token: acme.writer,
        body: {
          name: 'Metrics',
          tiles: [board.tiles[3]],
          filters: [
            { ...metric, id: 'all', name: 'Metric' },
            { ...metric, id: 'gauges', name: 'Gauge', sourceMetricType: 'gauge' },
          ],
        },
      });
      const { id } = created.json.data;
      const page = await browser.signIn(acme.admin, `/dashboards/${id}?${RANGE}`);
      await number(page, 'memory', '3 GiB');
      await bar(page).getByRole('combobox', { name: 'Gauge', exact: true }).click();
      await page.getByRole('option', { name: 'memory', exact: true }).waitFor();
      expect(await page.getByRole('option').allTextContents()).toEqual(['memory']);
      await page.keyboard.press('Escape');
      await choose(page, 'Metric', 'requests');
      await tile(page, 'memory').getByText('No data in this time range').waitFor();
      await page.goto(`${page.url()}&edit=true`);
      await page.getByRole('button', { name: 'Filters', exact: true }).click();
      const drawer = page.getByRole('dialog', { name: 'Filters' });
      const source = drawer
        .getByRole('group', { name: 'Gauge', exact: true })
        .getByRole('combobox', { name: 'Source' });
      expect(await source.inputValue()).toBe('Metrics');
      await drawer.getByRole('group', { name: 'Gauge', exact: true }).getByLabel('Label').fill('Gauges');
      await drawer.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await bar(page).getByRole('combobox', { name: 'Gauges', exact: true }).waitFor();
      const stored = (await browser.server.call({ path: `/api/v2/dashboards/${id}`, token: acme.token })).json.data;
      expect(stored.filters[1]).toMatchObject({ ...metric, name: 'Gauges', sourceMetricType: 'gauge' });
      expect(stored.filters[0]).not.toHaveProperty('sourceMetricType');
    });

    it('starts with the saved query and values; without them if the viewer removed them', async () => {
      const page = await open('saved');
      await number(page, 'total', '5');
      await bar(page).getByRole('button', { name: 'Clear', exact: true }).click();
      await number(page, 'total', '30');
      await page.getByRole('button', { name: 'Clear Service' }).click();
      await number(page, 'total', '60');
      const again = await browser.signIn({ token: acme.token }, page.url());
      await number(again, 'total', '60');
      await choose(again, 'Severity', 'ERROR');
      await number(again, 'total', '5');
      await tile(again, 'memory').getByText('Not filtered by Severity, which is for other sources').waitFor();
    });

    it('shows the instant under the pointer in all time charts', async () => {
      const page = await open();
      for (const id of ['lines', 'bars']) await tile(page, id).locator('canvas').waitFor();
      /** The share of the width of a chart at which its crosshair is. */
      const lineAt = async (id: string) => {
        const [over, line] = await Promise.all(
          ['.u-over', '.u-cursor-x'].map((part) => tile(page, id).locator(part).boundingBox()),
        );
        return over && line ? (line.x - over.x) / over.width : -1;
      };
      const box = await tile(page, 'lines').locator('.u-over').boundingBox();
      if (!box) throw new Error('the chart is not visible');
      await page.mouse.move(box.x + 5, box.y + 20);
      await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
      await tile(page, 'lines').getByTestId('chart-tooltip').waitFor();
      expect(await lineAt('lines')).toBeCloseTo(0.4, 1);
      expect(await lineAt('bars')).toBeCloseTo(0.4, 1);
      expect(await page.getByTestId('chart-tooltip').count()).toBe(1);
      await page.mouse.move(2, 2);
      await tile(page, 'lines').getByTestId('chart-tooltip').waitFor({ state: 'detached' });
      expect(await lineAt('bars')).toBeLessThan(0);
      await checkDragsAlone(page, box);
    });

    /** A dragged range is drawn in its own chart only. */
    async function checkDragsAlone(page: Page, box: { x: number; y: number; width: number }) {
      await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
      const dragged = await Promise.all((await page.locator('.u-select').all()).map((one) => one.boundingBox()));
      expect(dragged.filter((one) => one !== null && one.width > 0)).toHaveLength(1);
      await page.mouse.up();
      await page.waitForURL((url) => Number(url.searchParams.get('from')) > T0);
    }

    it('compares with the previous period, and says if it has no data', async () => {
      const page = await open();
      await number(page, 'total', '60');
      await bar(page).getByLabel('Compare with previous period').click();
      await page.waitForURL(/compare=true/);
      await tile(page, 'total').getByText('+45 (+300%), previous period: 15').waitFor();
      await tile(page, 'web').getByText('No data in the previous period').waitFor();
      await tile(page, 'memory').getByText('No data in the previous period').waitFor();
      await tile(page, 'lines')
        .getByText(/^Dashed: previous period, .* 09:30 – .* 10:00$/)
        .waitFor();
      await tile(page, 'slow').scrollIntoViewIfNeeded();
      await tile(page, 'slow').getByText('No data in the previous period').waitFor();
      const over = tile(page, 'lines').locator('.u-over');
      await over.hover({ position: { x: 30, y: 20 } });
      await over.hover({ position: { x: 3, y: 20 } });
      await tile(page, 'lines')
        .getByTestId('chart-tooltip')
        .getByText(/^before [01]$/)
        .waitFor();
      await bar(page).getByLabel('Compare with previous period').click();
      await tile(page, 'total').getByTestId('previous-value').waitFor({ state: 'detached' });
    });

    const download = async (page: Page, name: string) => {
      await page.getByRole('button', { name: `More actions for ${name}`, exact: true }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Download as CSV' }).click(),
      ]);
      return { name: file.suggestedFilename(), rows: parseCsv(await readFile(await file.path(), 'utf8')) };
    };

    it('downloads what a tile shows as CSV, with units, and no text that a spreadsheet evaluates', async () => {
      const page = await open('hostile');
      await tile(page, 'spans').locator('canvas').waitFor();
      const spans = await download(page, '=Spans, "all"');
      expect(spans.name).toBe('spans-all.csv');
      const [names = [], ...values] = spans.rows;
      expect(names.toSorted()).toEqual(['\'=HYPERLINK("http://x") (ns)', 'a,"b" (ns)', 'time']);
      const at = values.find(([time]) => time === new Date(T0 + 5 * MINUTE).toISOString());
      expect(at?.slice(1).toSorted()).toEqual(['1000000', '2000000']);
      const table = await download(page, 'Table');
      expect(table.rows).toEqual([
        ['ServiceName', 'max(Duration) (ns)'],
        ['a,"b"', '2000000'],
        [`'=HYPERLINK("http://x")`, '1000000'],
      ]);
      const compared = await open(
        'filtered',
        `${RANGE}&compare=true&vars=${encodeURIComponent('{"service":["api"]}')}`,
      );
      await tile(compared, 'total')
        .getByText(/previous period: 15/)
        .waitFor();
      expect((await download(compared, 'Rows')).rows).toEqual([
        ['series', 'value', 'unit', 'previous period'],
        ['count', '30', '', '15'],
      ]);
    });

    it('is accessible and fits three widths', async () => {
      const page = await open('filtered', `${RANGE}&compare=true&vars=${encodeURIComponent('{"severity":["INFO"]}')}`);
      await tile(page, 'memory').getByRole('note').waitFor();
      await tile(page, 'lines').getByTestId('previous-period').waitFor();
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await checkWidths(page, 'dashboard-filters-dark');
      await page.emulateMedia({ colorScheme: 'light' });
      await checkWidths(page, 'dashboard-filters');
    });

    it('the editor adds variables, a query for all tiles, and tiles that ignore them', async () => {
      const created = await browser.server.call({
        method: 'POST',
        path: '/api/v2/dashboards',
        token: acme.writer,
        body: { name: 'New', tiles: board.tiles.slice(2, 4), filters: board.filters.slice(2) },
      });
      const { id } = created.json.data;
      const page = await browser.signIn(acme.admin, `/dashboards/${id}?${RANGE}&edit=true`);
      await page.getByRole('button', { name: 'Filters', exact: true }).click();
      const drawer = page.getByRole('dialog', { name: 'Filters' });
      await drawer.getByText('Filters of other clients, kept as they are: Job').waitFor();
      await drawer.getByRole('button', { name: 'Add variable' }).click();
      await drawer.getByText('Choose the field that is filtered').waitFor();
      await drawer.getByRole('textbox', { name: 'Label' }).fill('Service name');
      await drawer.getByRole('combobox', { name: 'Field' }).fill('ServiceName');
      await page.keyboard.press('Escape');
      await drawer.getByLabel('Default').fill('api');
      await page.keyboard.press('Enter');
      await drawer.getByRole('textbox', { name: 'Query for all tiles' }).fill('SeverityText:"INFO"');
      await expectAccessible(page);
      await checkWidths(page, 'dashboard-filters-editor');
      await page.setViewportSize({ width: 1280, height: 900 });
      await drawer.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Edit Memory' }).click();
      const editor = page.getByRole('dialog', { name: 'Memory' });
      await editor.getByLabel('Ignore the filters of the dashboard').click();
      await editor.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await number(page, 'total', '25');
      await tile(page, 'memory').getByText('Not filtered: this tile ignores filters').waitFor();
      const stored = (await browser.server.call({ path: `/api/v2/dashboards/${id}`, token: acme.token })).json.data;
      expect(stored).toMatchObject({
        savedQuery: 'SeverityText:"INFO"',
        savedFilterValues: [{ type: 'variable', name: 'service_name', values: ['api'] }],
        filters: [
          board.filters[2],
          {
            type: 'QUERY_EXPRESSION',
            name: 'Service name',
            variableName: 'service_name',
            expression: 'ServiceName',
            sourceId: 'logs',
            isBroadcastEnabled: true,
          },
        ],
      });
      expect(stored.tiles.map(({ ignoresFilters }: Json) => ignoresFilters)).toEqual([undefined, true]);
    });
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board, saved, hostile] }, ...others] } },
);
