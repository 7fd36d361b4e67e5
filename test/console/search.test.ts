import { beforeAll, expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { createIngestToken, postOtlp } from '../support/otlp-json.ts';
import { until } from '../support/until.ts';

/** The first request starts the engine. */
const ENGINE = { timeout: 100_000 };
const HOUR_MS = 3_600_000;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const HOSTILE = '<img src=x onerror="document.title=1">\'; DROP TABLE otel_logs --';

interface Log {
  body: string;
  at?: number;
  service?: string;
  severity?: string;
  attributes?: Record<string, string>;
  traceId?: string;
}

const toAttributes = (attributes: Record<string, string>) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));

inBrowser('search page', (browser) => {
  let token = '';
  const start = Date.now();

  const send = async (logs: Log[]) => {
    const resourceLogs = logs.map(({ body, at = Date.now(), service = 'checkout', severity = 'INFO', ...log }) => ({
      resource: { attributes: toAttributes({ 'service.name': service, 'host.name': `host-${service}` }) },
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: `${at}000000`,
              severityText: severity,
              body: { stringValue: body },
              attributes: toAttributes(log.attributes ?? {}),
              ...(log.traceId ? { traceId: log.traceId } : {}),
            },
          ],
        },
      ],
    }));
    const response = await postOtlp(browser.server, token, 'logs', { resourceLogs });
    expect(response.status, await response.text()).toBe(200);
  };
  const count = async (body: object): Promise<number> =>
    (await browser.server.call({ method: 'POST', path: '/api/v2/search', token: acme.token, body })).json.rows;

  beforeAll(async () => {
    ({ token } = await createIngestToken(browser.server, acme, 'search'));
    const orders = Array.from({ length: 600 }, (_, index) => ({
      body: `order ${index} placed`,
      at: start - 60_000 - index * 1000,
      attributes: { 'http.route': index % 3 === 0 ? '/cart' : '/orders' },
    }));
    const others = [
      { body: 'payment declined', at: start - 90_500, service: 'payment', severity: 'ERROR', traceId: TRACE_ID },
      { body: 'slow card network', at: start - 91_500, service: 'payment', severity: 'WARN' },
      { body: HOSTILE, at: start - 95_500, service: 'hostile', attributes: { 'a\'b"c': HOSTILE } },
      { body: 'from yesterday', at: start - 20 * HOUR_MS, service: 'nightly' },
    ];
    await send([...orders, ...others]);
    const body = { sourceId: 'logs', startTime: new Date(start - 24 * HOUR_MS).toISOString(), maxResults: 2000 };
    await until(
      () => count(body),
      (rows) => rows === 604,
      'not all rows are stored',
    );
  }, ENGINE.timeout);

  const open = (path = '/search', options = {}) => browser.signIn(acme.admin, path, options);
  const table = (page: Page) => page.getByRole('table', { name: 'Rows, newest first' });
  const row = (page: Page, text: string) => table(page).getByRole('row').filter({ hasText: text });
  const progress = (page: Page) => page.getByTestId('progress');
  const panel = (page: Page) => page.getByRole('complementary', { name: 'Row details' });
  const query = (page: Page) => page.getByRole('combobox', { name: 'Query', exact: true });

  const cells = async (page: Page): Promise<string[]> =>
    (await table(page).locator('tbody tr td:last-child').allTextContents()).map((text) => text.trim());
  const search = async (page: Page, text: string) => {
    await query(page).fill(text);
    await page.keyboard.press('Escape');
    await query(page).press('Enter');
  };

  it('includes, excludes and isolates values of a field', async () => {
    const page = await open();
    await page.goto(`${browser.server.url}/search?last=15m`);
    const fields = page.getByRole('region', { name: 'Fields' });
    const value = (name: string) => fields.getByRole('listitem').filter({ hasText: name }).last();
    const click = async (how: string, name: string) => {
      await value(name).hover();
      await fields.getByRole('button', { name: `${how} ServiceName ${name}`, exact: true }).click();
    };
    await value('payment').getByText('2', { exact: true }).waitFor(ENGINE);
    await click('Include', 'payment');
    await progress(page).getByText('2 rows. Searched the whole range').waitFor();
    await click('Include', 'hostile');
    await progress(page).getByText('3 rows. Searched the whole range').waitFor();
    await click('Exclude', 'payment');
    await progress(page).getByText('1 row. Searched the whole range').waitFor();
    await click('Only', 'payment');
    await progress(page).getByText('2 rows. Searched the whole range').waitFor();
    expect(JSON.parse(new URL(page.url()).searchParams.get('filters') ?? '')).toEqual(["ServiceName IN ('payment')"]);
    await click('Include', 'payment');
    await page.waitForURL((url) => !url.searchParams.has('filters'));
    await fields.getByLabel('Find a field').fill('route');
    await fields.getByRole('button', { name: 'http.route' }).click();
    await value('/cart').getByText('200', { exact: true }).waitFor();
    await fields.getByRole('button', { name: 'Hide fields' }).click();
    await fields.getByLabel('Find a field').waitFor({ state: 'detached' });
  });

  it('works without facets', async () => {
    const page = await open();
    await page.route('**/api/v2/search/facets', (route) => route.fulfill({ status: 404, json: {} }));
    await page.goto(`${browser.server.url}/search?where=declined`);
    await row(page, 'payment declined').waitFor(ENGINE);
    expect(await page.getByRole('region', { name: 'Fields' }).count()).toBe(0);
  });

  it('finds rows, and the link shows the same', async () => {
    const page = await open('/');
    await page.getByRole('link', { name: 'Search', exact: true }).click();
    await row(page, 'order 0 placed').waitFor(ENGINE);
    await query(page).fill('Serv');
    await page.getByRole('option', { name: 'ServiceName', exact: true }).click();
    await query(page).press('End');
    await query(page).pressSequentially('pay');
    await page.getByRole('option', { name: 'payment', exact: true }).click();
    expect(await query(page).inputValue()).toBe('ServiceName:"payment" ');
    await query(page).press('Enter');
    await row(page, 'order 0 placed').waitFor({ state: 'detached' });
    await progress(page).getByText('2 rows. Searched the whole range').waitFor();
    expect(await cells(page)).toEqual(['payment declined', 'slow card network']);

    await page.getByText('SQL', { exact: true }).click();
    await query(page).fill("SeverityText = 'ERROR'");
    await query(page).press('Enter');
    await progress(page).getByText('1 row. Searched the whole range').waitFor();
    expect(await cells(page)).toEqual(['payment declined']);
    await page.goBack();
    await progress(page).getByText('2 rows').waitFor();
    await page.goForward();
    await progress(page).getByText('1 row.').waitFor();
    await page.reload();
    await progress(page).getByText('1 row.').waitFor();
    expect(await query(page).inputValue()).toBe("SeverityText = 'ERROR'");
    expect(new URL(page.url()).searchParams.get('lang')).toBe('sql');
  });

  it('shows the message of the server at a wrong query', async () => {
    const page = await open('/search?where=NoSuchField:x');
    const message = page.locator('#main').getByText(/NoSuchField/);
    await message.first().waitFor(ENGINE);
    expect(await query(page).getAttribute('aria-invalid')).toBe('true');
    await progress(page).getByText('The search failed').waitFor();
    await search(page, 'declined');
    await row(page, 'payment declined').waitFor();
    expect(await query(page).getAttribute('aria-invalid')).not.toBe('true');
  });

  it('loads older rows on scrolling, and keeps few in the page', async () => {
    const page = await open();
    await progress(page).getByText('The newest 200 rows. Searched back to').waitFor(ENGINE);
    const box = page.getByRole('region', { name: 'Rows, table' });
    await until(
      async () => {
        await box.evaluate((element: { scrollTop: number; scrollHeight: number }) => {
          element.scrollTop = element.scrollHeight;
        });
        return row(page, 'order 599 placed').count();
      },
      (found) => found === 1,
      'the oldest row is not shown',
    );
    await progress(page).getByText('603 rows. Searched the whole range').waitFor();
    expect(await table(page).locator('tbody tr').count()).toBeLessThan(100);
  });

  it('zooms into the range that is dragged in the histogram', async () => {
    const page = await open('/search?where=order');
    const chart = page.getByRole('img', { name: /^Rows over time/ });
    await chart.locator('canvas').waitFor(ENGINE);
    const plot = await chart.locator('.u-over').boundingBox();
    if (!plot) throw new Error('there is no plot');
    await page.mouse.move(plot.x + plot.width * 0.6, plot.y + 20);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width * 0.8, plot.y + 20, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=\d+.*to=\d+/);
    const parameters = new URL(page.url()).searchParams;
    const minutes = (Number(parameters.get('to')) - Number(parameters.get('from'))) / 60_000;
    expect(minutes).toBeGreaterThan(9);
    expect(minutes).toBeLessThan(15);
  });

  it('adds, widens and removes columns, and wraps', async () => {
    const page = await open('/search?where=order');
    await row(page, 'order 0 placed').waitFor(ENGINE);
    await page.getByRole('button', { name: 'Column', exact: true }).click();
    await page.getByRole('combobox', { name: 'Column or SQL expression' }).fill('http');
    await page.getByRole('option', { name: "LogAttributes['http.route']" }).click();
    await row(page, 'order 0 placed').getByText('/cart').waitFor();
    const header = (name: string) => table(page).getByRole('columnheader', { name });
    const width = async () => (await header('ServiceName').boundingBox())?.width ?? 0;
    const before = await width();
    const handle = await page.getByRole('separator', { name: 'Width of column ServiceName' }).boundingBox();
    if (!handle) throw new Error('there is no handle');
    await page.mouse.move(handle.x + 3, handle.y + 8);
    await page.mouse.down();
    await page.mouse.move(handle.x + 83, handle.y + 8, { steps: 4 });
    await page.mouse.up();
    expect(await width()).toBe(before + 80);
    await page.getByRole('separator', { name: 'Width of column ServiceName' }).press('ArrowLeft');
    expect(await width()).toBe(before + 60);
    await page.reload();
    await row(page, '/cart').first().waitFor();
    expect(await width()).toBe(before + 60);
    await page.getByRole('button', { name: 'Remove column SeverityText' }).click();
    await header('SeverityText').waitFor({ state: 'detached' });
    await page.getByLabel('Wrap').click();
    await page.waitForURL(/wrap=true/);
    expect(JSON.parse(new URL(page.url()).searchParams.get('columns') ?? '')).toEqual([
      'ServiceName',
      'Body',
      "LogAttributes['http.route']",
    ]);
  });

  it('shows every attribute of a row and filters by it', async () => {
    const page = await open('/search?last=15m');
    await row(page, 'payment declined').click(ENGINE);
    await panel(page).getByText('ResourceAttributes.host.name').waitFor();
    expect(await panel(page).getByRole('link', { name: 'Open trace' }).getAttribute('href')).toBe(
      `/traces/${TRACE_ID}?source=traces`,
    );
    const url = page.url();
    expect(url).toContain('row=');
    await page.reload();
    await panel(page).getByText('host-payment').waitFor();
    await panel(page).getByRole('button', { name: 'Filter by ResourceAttributes.host.name' }).click();
    await progress(page).getByText('2 rows. Searched the whole range').waitFor();
    await panel(page).getByRole('button', { name: 'Exclude SeverityText' }).click();
    await progress(page).getByText('1 row. Searched the whole range').waitFor();
    expect(await cells(page)).toEqual(['slow card network']);
    const chips = page.getByRole('list', { name: 'Filters' });
    await chips.getByText('SeverityText ≠ ERROR').waitFor();
    await panel(page).getByRole('button', { name: 'Add column ResourceAttributes.host.name' }).click();
    await table(page).getByRole('columnheader', { name: 'host.name' }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel(page).getByRole('button', { name: 'Copy ResourceAttributes.host.name' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('host-payment');
    await page.getByRole('button', { name: 'Close details' }).click();
    await page.getByRole('button', { name: 'Remove filter SeverityText ≠ ERROR' }).click();
    await progress(page).getByText('2 rows').waitFor();
  });

  it('shows the rows around a row: of all services, or of its own', async () => {
    const page = await open('/search?where=declined');
    await row(page, 'payment declined').click(ENGINE);
    await panel(page).getByRole('tab', { name: 'Surrounding rows' }).click();
    const list = panel(page).getByRole('list', { name: 'Surrounding rows, newest first' });
    await list.getByText('slow card network').waitFor();
    await list.getByText('order 31 placed').waitFor();
    expect(await list.locator('[aria-current=true]').textContent()).toContain('payment declined');
    await panel(page).getByText('Service', { exact: true }).click();
    await list.getByText('order 31 placed').waitFor({ state: 'detached' });
    expect(await list.getByRole('listitem').count()).toBe(2);
    await list.getByText('slow card network').click();
    await panel(page).locator('pre').getByText('slow card network').waitFor();
  });

  it('is used by keyboard', async () => {
    const page = await open('/search?where=order');
    await row(page, 'order 0 placed').waitFor(ENGINE);
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Query');
    await page.keyboard.type('j');
    expect(await query(page).inputValue()).toBe('orderj');
    await page.keyboard.press('Backspace');
    await query(page).blur();
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await panel(page).locator('pre').getByText('order 1 placed').waitFor();
    await page.keyboard.press('j');
    await panel(page).locator('pre').getByText('order 2 placed').waitFor();
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
  });

  it('follows new rows, and pauses on scrolling and on a selection', async () => {
    const page = await open('/search?where=live');
    await page.getByText('No rows found').waitFor(ENGINE);
    // Before the stream, with which the network is never idle.
    await page.waitForLoadState('networkidle');
    await page.getByLabel('Live').click();
    await page.waitForURL(/live=true/);
    const bar = page.getByRole('status').filter({ hasText: /Live|Paused/ });
    await bar.getByText('Live: waiting for new rows').waitFor();
    await send([{ body: 'live row 1' }]);
    await row(page, 'live row 1').waitFor();
    await bar.getByText('Live: 1 new row').waitFor();
    await row(page, 'live row 1').click();
    await bar.getByText('Paused because a row is open. 0 new rows since.').waitFor();
    await send([{ body: 'live row 2' }]);
    await bar.getByText('1 new row since.').waitFor();
    expect(await row(page, 'live row 2').count()).toBe(0);
    await expectAccessible(page);
    await checkWidths(page, 'search-live');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Resume' }).click();
    await row(page, 'live row 2').waitFor();
    await page.getByRole('button', { name: 'Close details' }).click();

    const at = Date.now();
    await send(Array.from({ length: 60 }, (_, index) => ({ body: `live batch ${index}`, at: at + index })));
    await row(page, 'live batch 59').waitFor();
    await page.getByRole('region', { name: 'Rows, table' }).hover();
    await page.mouse.wheel(0, 300);
    await bar.getByText('Paused because the list was scrolled.').waitFor();
    await send([{ body: 'live row 3' }]);
    await bar.getByText('1 new row since.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await row(page, 'live row 3').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('live'));
  });

  it('says why new rows are no longer followed', async () => {
    const page = await open('/search?where=declined');
    await row(page, 'payment declined').waitFor(ENGINE);
    await page.route('**/api/v2/search/tail', (route) => route.abort());
    await page.getByLabel('Live').click();
    await page.getByText('Live tail ended: Cannot reach the server').waitFor();
    await page.unroute('**/api/v2/search/tail');
    await page.getByRole('button', { name: 'Connect again' }).click();
    await page.getByText('Live: waiting for new rows').waitFor();
  });

  it('saves, opens, changes and deletes searches', async () => {
    const page = await open("/search?where=declined&filters=%5B%22ServiceName%20IN%20('payment')%22%5D");
    await row(page, 'payment declined').waitFor(ENGINE);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const form = page.getByRole('form', { name: 'Save search' });
    await form.getByLabel('Name').fill('Declined payments');
    await form.getByLabel('Tags').fill('money');
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL(/saved=/);
    await page.goto(`${browser.server.url}/search`);
    await page.getByRole('button', { name: 'Saved searches' }).click();
    const drawer = page.getByRole('dialog', { name: 'Saved searches' });
    await drawer.getByLabel('Find by name or tag').fill('money');
    await drawer.getByRole('button', { name: 'Declined payments', exact: true }).waitFor();
    await expectAccessible(page);
    await checkWidths(page, 'search-saved');
    await page.setViewportSize({ width: 1280, height: 900 });
    await drawer.getByRole('button', { name: 'Declined payments', exact: true }).click();
    await progress(page).getByText('1 row. Searched the whole range').waitFor();
    await page.getByRole('list', { name: 'Filters' }).getByText('ServiceName = payment').waitFor();
    await search(page, 'slow');
    await page.getByText('Declined payments (changed)').waitFor();
    await page.getByRole('button', { name: 'Update', exact: true }).click();
    await page.getByText('Updated the saved search Declined payments').waitFor();
    const list = async () =>
      (await browser.server.call({ path: '/api/v2/saved-searches', token: acme.token })).json.data;
    expect(await list()).toMatchObject([
      {
        name: 'Declined payments',
        where: 'slow',
        tags: ['money'],
        filters: [{ type: 'sql', condition: "ServiceName IN ('payment')" }],
      },
    ]);
    await page.getByRole('button', { name: 'Saved searches' }).click();
    await drawer.getByRole('button', { name: 'Actions for Declined payments' }).click();
    await page.getByRole('menuitem', { name: 'Name and tags' }).click();
    await page.getByRole('form', { name: 'Name and tags' }).getByLabel('Name').fill('Slow payments');
    await page.getByRole('form', { name: 'Name and tags' }).getByRole('button', { name: 'Save' }).click();
    await drawer.getByRole('button', { name: 'Actions for Slow payments' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete saved search' }).getByRole('button', { name: 'Delete' }).click();
    await drawer.getByText('No searches are saved.').waitFor();
    expect(await list()).toEqual([]);
  });

  it('adds the search to a dashboard, as rows and as a count', async () => {
    const page = await open("/search?where=declined&filters=%5B%22ServiceName%20IN%20('payment')%22%5D");
    await row(page, 'payment declined').waitFor(ENGINE);
    const form = page.getByRole('form', { name: 'Add to dashboard' });
    await page.getByRole('button', { name: 'Add to dashboard' }).click();
    await form.getByLabel('Title of the tile').fill('Declined rows');
    await expectAccessible(page);
    await form.getByLabel('Name of the dashboard').fill('From a search');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Added a tile to From a search').waitFor();
    await page.getByRole('button', { name: 'Add to dashboard' }).click();
    await form.getByLabel('The number of rows').check();
    await form.getByLabel('Title of the tile').fill('How many');
    await form.getByRole('combobox', { name: 'Dashboard' }).click();
    await page.getByRole('option', { name: 'From a search' }).click();
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Dashboards' }).click();
    await page.getByRole('link', { name: 'From a search' }).click();
    const tile = (name: string) => page.locator('[data-tile]').filter({ hasText: name });
    await tile('Declined rows').getByText('payment declined').waitFor();
    expect(await tile('How many').getByTestId('number').textContent()).toBe('1');
  });

  it.each([
    ['CSV', /^Timestamp,ServiceName,SeverityText,Body\r?\n.*payment,ERROR,payment declined/],
    ['NDJSON', /^\{"Timestamp":".*","ServiceName":"payment","SeverityText":"ERROR","Body":"payment declined"\}/],
  ])('exports %s', async (format, content) => {
    const page = await open('/search?where=declined');
    await row(page, 'payment declined').waitFor(ENGINE);
    await page.getByRole('button', { name: 'Export' }).click();
    const started = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: format, exact: true }).click();
    const stream = await (await started).createReadStream();
    let text = '';
    for await (const chunk of stream) text += chunk;
    expect(text).toMatch(content);
  });

  it('says what was searched if nothing was found, and widens the range', async () => {
    const page = await open('/search?where=yesterday&last=6h');
    await page.getByText('No rows found').waitFor(ENGINE);
    await page.getByText(/^Searched all of Logs from .* to .* for yesterday\.$/).waitFor();
    await expectAccessible(page);
    await checkWidths(page, 'search-empty');
    await page.getByRole('button', { name: 'Search the last 24 hours' }).click();
    await row(page, 'from yesterday').waitFor();
    await page.waitForURL(/last=24h/);
  });

  it('shows text of users as text', async () => {
    const page = await open('/search?where=ServiceName:hostile');
    await row(page, HOSTILE).click(ENGINE);
    await panel(page).getByText(`LogAttributes.a'b"c`).waitFor();
    await panel(page).getByRole('button', { name: `Filter by LogAttributes.a'b"c` }).click();
    await page.getByRole('list', { name: 'Filters' }).getByText(HOSTILE).waitFor();
    await progress(page).getByText('1 row. Searched the whole range').waitFor();
    expect(await page.title()).toBe('Search · Pilothouse');
    expect(await page.locator('#main img[src]').count()).toBe(0);
  });

  it('lets a reader search, but not save', async () => {
    const page = await browser.signIn(acme.developer, '/search?where=order');
    await row(page, 'order 0 placed').waitFor(ENGINE);
    expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Add to dashboard' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Saved searches' }).click();
    await page.getByText('No searches are saved.').waitFor();
  });

  it('is opened from the telemetry page', async () => {
    const page = await open('/telemetry');
    await page.getByRole('link', { name: 'See the rows: logs of payment' }).click(ENGINE);
    await page.getByRole('list', { name: 'Filters' }).getByText('ServiceName = payment').waitFor();
    await progress(page).getByText('2 rows').waitFor();
  });

  it('searches spans', async () => {
    const page = await open('/search?source=traces');
    await page.getByText(/^Searched all of Traces/).waitFor(ENGINE);
    await page.goto(`${browser.server.url}/search?source=none`);
    await page.getByText('There is no such source').waitFor();
  });

  it('is accessible, readable in light and dark, and fits three widths', async () => {
    const page = await open("/search?where=order&filters=%5B%22ServiceName%20IN%20('checkout')%22%5D");
    await page.reload();
    await row(page, 'order 0 placed').waitFor(ENGINE);
    await page.getByRole('img', { name: /^Rows over time/ }).waitFor();
    await expectAccessible(page);
    await checkWidths(page, 'search');
    await page.setViewportSize({ width: 1280, height: 900 });
    await row(page, 'order 5 placed').click();
    await panel(page).getByText('LogAttributes.http.route').waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, 'search-row-dark');
    await page.getByRole('button', { name: 'Close details' }).click();
    await expectReadable(page);
    await checkWidths(page, 'search-dark');
  });
});
