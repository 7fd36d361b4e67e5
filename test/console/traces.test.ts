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
import { acme } from '../support/fleet.ts';
import { createIngestToken } from '../support/otlp-json.ts';
import { text } from '../support/otlp-requests.ts';
import { until } from '../support/until.ts';
import { newTraceId, sendLogs, sendSpans, spanId, type TestSpan } from '../traces/support.ts';

/** The first request starts the engine. */
const ENGINE = { timeout: 100_000 };
/** One more than a response has. */
const SPANS = 10_001;
const MINUTE_MS = 60_000;

/** Earlier results are dimmed until those of a changed search arrive. */
async function waitForResults(page: Page): Promise<void> {
  await waitUntilSettled(page);
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}

const shop = newTraceId();
const large = newTraceId();
const hostile = newTraceId();

/** A checkout with an error, an orphan, a clock that is wrong, and a call of a database, a queue and an address. */
const SHOP: TestSpan[] = [
  { id: 'root', service: 'web', name: 'POST /checkout', kind: 'server', from: 0, to: 180.345678 },
  {
    id: 'order',
    parent: 'root',
    service: 'orders',
    name: 'place order',
    kind: 'server',
    from: 2.000001,
    to: 170,
    attributes: { 'order.id': "o'1" },
  },
  {
    id: 'query',
    parent: 'order',
    service: 'orders',
    name: 'SELECT orders',
    kind: 'client',
    from: 4,
    to: 20,
    attributes: { 'db.system': 'postgresql', 'db.name': 'orders' },
  },
  { id: 'pay', parent: 'order', service: 'payments', name: 'charge', kind: 'server', from: 25, to: 140, isError: true },
  {
    id: 'card',
    parent: 'pay',
    service: 'payments',
    name: 'GET cards',
    kind: 'client',
    from: 30,
    to: 139,
    attributes: { 'server.address': 'cards.example' },
  },
  {
    id: 'mail',
    parent: 'order',
    service: 'orders',
    name: 'publish receipt',
    kind: 'producer',
    from: 150,
    to: 151,
    attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': 'receipts' },
  },
  { id: 'early', parent: 'order', service: 'stock', name: 'reserve', kind: 'server', from: -3, to: 10 },
  { id: 'lost', parent: 'gone', service: 'stock', name: 'reconcile', from: 60, to: 60.000812 },
];

const rows = (page: Page) => page.getByRole('treeitem');
const row = (page: Page, name: string) => rows(page).filter({ hasText: name });
const details = (page: Page) => page.getByRole('complementary', { name: 'Details' });
const readExpanded = (page: Page, name: string) => row(page, name).getAttribute('aria-expanded');
const readSelected = async (page: Page) => (await page.locator('[aria-selected="true"]').textContent()) ?? '';

inBrowser('traces', (browser) => {
  beforeAll(async () => {
    const { token } = await createIngestToken(browser.server, acme);
    const target = { url: `${browser.server.url}/otlp`, authorization: `Bearer ${token}` };
    const at = Date.now() - 10 * MINUTE_MS;
    const more = {
      events: [{ timeUnixNano: `${at + 90}000005`, name: 'card declined', attributes: [text('attempt', '3')] }],
      links: [{ traceId: large, spanId: spanId('1') }],
      status: { code: 2, message: 'no money' },
    };
    await sendSpans(
      target,
      shop,
      at,
      SHOP.map((one) => (one.id === 'pay' ? { ...one, more } : one)),
    );
    await sendLogs(target, shop, at, [
      { at: 26, body: 'charging the card', span: 'pay', service: 'payments' },
      { at: 160, body: 'nobody knows my span', service: 'payments' },
    ]);
    await sendSpans(
      target,
      large,
      at,
      Array.from({ length: SPANS }, (_, index) => ({
        id: String(index),
        ...(index === 0 ? {} : { parent: String(Math.floor((index - 1) / 3)) }),
        service: `part-${index % 5}`,
        name: `step ${index}`,
        from: index === 0 ? 0 : index / 10,
        to: index === 0 ? 1000 : index / 10 + 3,
      })),
    );
    await sendSpans(target, hostile, at, [
      {
        id: 'h',
        service: '<img src=x onerror=alert(1)>',
        name: `<b>${'name'.repeat(200)}`,
        from: 0,
        to: 1,
        attributes: { "k'] OR 1=1 --": `\\' OR 1=1 <script>` },
      },
    ]);
  }, 120_000);

  it('shows a trace with its logs, errors, orphans and clock skew', async () => {
    const page = await browser.signIn(acme.admin, `/traces/${shop}`);
    await page.getByRole('heading', { name: 'web: POST /checkout', level: 1 }).waitFor(ENGINE);
    // By time below their parent; a root, an orphan and a log without a span are on the first level.
    const names = (await rows(page).allTextContents()).map((name) => name.replace(/\d[\d.]* (ns|µs|ms)$/, ''));
    expect(names).toEqual([
      'web POST /checkout',
      'orders place order',
      'stock reserveClock skew',
      'orders SELECT orders',
      'payments chargeError',
      'INFOcharging the card',
      'payments GET cards',
      'orders publish receipt',
      'stock reconcileOrphan',
      'INFONo spannobody knows my span',
    ]);
    expect(await rows(page).evaluateAll((found) => found.map((one) => one.getAttribute('aria-level')))).toEqual([
      '1',
      '2',
      '3',
      '3',
      '3',
      '4',
      '4',
      '3',
      '1',
      '1',
    ]);
    await row(page, 'reconcile').getByText('812 ns').waitFor();
    await page.getByText('1 span names a parent that is not in this trace, marked "Orphan".').waitFor();
    await page.getByText(/1 span does not fit into the time of the parent/).waitFor();
    await page.getByText('Critical path, 180.345678 ms').waitFor();
    await expectAccessible(page);

    await row(page, 'charge').click();
    await page.waitForURL(new RegExp(`span=%?2?2?${spanId('pay')}`));
    await details(page).getByText('Error: no money').waitFor();
    await details(page).getByText('card declined, at 93.000005 ms').waitFor();
    await details(page).getByRole('link', { name: large }).waitFor();
    await details(page).getByText('115 ms', { exact: true }).waitFor();
    await details(page).getByRole('button', { name: 'place order' }).click();
    await details(page).getByText('167.999999 ms').waitFor();
    await expectAccessible(page);
    await page.reload();
    await details(page).getByText('167.999999 ms').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, 'trace');
    await expectAccessible(page);

    // The condition of the link selects this trace only.
    await page.setViewportSize({ width: 1280, height: 900 });
    await details(page).getByRole('link', { name: "Filter by order.id = o'1" }).click();
    const found = page.getByRole('table', { name: 'Traces' }).getByRole('link');
    await found.first().waitFor();
    expect(await found.allTextContents()).toEqual(['web: POST /checkout']);
  });

  it('can be read by keyboard, and searched', async () => {
    const page = await browser.signIn(acme.admin, `/traces/${shop}`);
    await row(page, 'POST /checkout').waitFor();
    await page.keyboard.press('j');
    expect(await readSelected(page)).toContain('POST /checkout');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    expect(await readSelected(page)).toContain('place order');
    await page.keyboard.press('Enter');
    await details(page).getByRole('heading', { name: 'place order' }).waitFor();
    await page.keyboard.press('j');
    await details(page).getByRole('heading', { name: 'reserve' }).waitFor();
    await page.keyboard.press('Escape');
    await details(page).waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('span=');

    await page.keyboard.press('ArrowLeft');
    expect(await readSelected(page)).toContain('place order');
    await page.keyboard.press('Alt+ArrowLeft');
    expect(await readExpanded(page, 'place order')).toBe('false');
    await row(page, 'place order').getByText('+5').waitFor();
    await row(page, 'place order').getByText('1 error').waitFor();
    await page.keyboard.press('ArrowRight');
    // The whole subtree was collapsed.
    expect(await readExpanded(page, 'charge')).toBe('false');
    await row(page, 'charge').locator('[data-toggle]').click();
    expect(await readExpanded(page, 'charge')).toBe('true');
    await page.getByRole('button', { name: 'Collapse all' }).click();
    expect(await rows(page).count()).toBe(3);

    await page.keyboard.press('/');
    await page.keyboard.type('cards');
    await page.getByRole('status').getByText('1 match').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('1 of 1').waitFor();
    expect(await readSelected(page)).toContain('GET cards');
    await page.getByLabel('Search in this trace').fill('nothing has this');
    await page.getByRole('status').getByText('No matches').waitFor();

    await page.getByRole('switch', { name: 'Logs (2)' }).uncheck();
    expect(await row(page, 'nobody knows').count()).toBe(0);
  });

  it('zooms into the part that is dragged over in the minimap', async () => {
    const page = await browser.signIn(acme.admin, `/traces/${shop}`);
    const minimap = await page.getByTestId('minimap').boundingBox();
    if (!minimap) throw new Error('There is no minimap');
    const readTicks = () => page.locator('[class*=ruler]').textContent();
    const before = await readTicks();
    await page.mouse.move(minimap.x + minimap.width / 4, minimap.y + 20);
    await page.mouse.down();
    await page.mouse.move(minimap.x + minimap.width / 2, minimap.y + 20, { steps: 3 });
    await page.mouse.up();
    await row(page, 'SELECT orders').getByText('← 16 ms').waitFor();
    expect(await readTicks()).not.toBe(before);
    await page.getByRole('button', { name: 'Whole trace' }).click();
    expect(await readTicks()).toBe(before);
  });

  it('keeps a trace of 10,000 spans small in the document', async () => {
    const page = await browser.signIn(acme.admin, `/traces/${large}`);
    await page.getByRole('heading', { name: 'part-0: step 0', level: 1 }).waitFor();
    await page.getByText('Shown are the earliest 10,000 of 10,001 spans and 0 of 0 logs.').waitFor();
    await rows(page).first().waitFor();
    const countElements = () => page.evaluate('document.querySelectorAll("*").length');
    expect(await rows(page).count()).toBeLessThan(100);
    expect(await countElements()).toBeLessThan(2000);
    await page.getByRole('tree').focus();
    await page.keyboard.press('End');
    await page.locator('[aria-selected="true"]').waitFor();
    expect(await readSelected(page)).toMatch(/step \d{4}/);
    expect(await rows(page).count()).toBeLessThan(100);
    await page.getByLabel('Search in this trace').fill('step 777');
    await page.getByRole('status').getByText('11 matches').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await readSelected(page)).toContain('step 777');
    expect(await countElements()).toBeLessThan(2000);
  });

  it('shows names and values as text', async () => {
    const page = await browser.signIn(acme.admin, `/traces/${hostile}?span=${spanId('h')}`);
    await details(page).getByText(`\\' OR 1=1 <script>`).waitFor();
    await checkWidths(page, 'trace-hostile');
    await details(page)
      .getByRole('link', { name: /^Filter by k'\] OR/ })
      .click();
    const found = page.getByRole('table', { name: 'Traces' }).getByRole('link');
    await found.first().waitFor();
    expect(await found.count()).toBe(1);
    await checkWidths(page, 'traces-hostile');
  });

  it('says that a trace does not exist', async () => {
    const page = await browser.signIn(acme.admin, `/traces/${'9'.repeat(32)}`);
    await page.getByRole('heading', { name: 'No trace with this ID' }).waitFor();
    await expectAccessible(page);
    await page.goto(`${browser.server.url}/traces/no-id`);
    await page.getByText('Could not load the trace').waitFor();
  });

  it('lists traces, and those of an area of the heatmap', async () => {
    const page = await browser.signIn(acme.admin, '/traces');
    const table = page.getByRole('table', { name: 'Traces' });
    await table.getByRole('link', { name: 'part-0: step 0' }).waitFor();
    expect(await table.getByRole('link').count()).toBe(3);
    await page.getByText('Slowest', { exact: true }).click();
    await page.waitForURL(/order=slowest/);
    await waitForResults(page);
    await expectAccessible(page);
    const form = page.getByRole('form', { name: 'Condition' });
    await form.getByLabel('Condition on spans').fill('ServiceName:payments StatusCode:Error');
    await form.getByRole('button', { name: 'Search' }).click();
    await table.getByRole('link', { name: 'part-0: step 0' }).waitFor({ state: 'detached' });
    expect(await table.getByRole('link').allTextContents()).toEqual(['web: POST /checkout']);
    await form.getByLabel('Condition on spans').fill('NoSuchField:1');
    await form.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Could not search traces').waitFor();

    await page.goto(`${browser.server.url}/traces`);
    const cells = page.getByTestId('heatmap-cells');
    const box = await cells.boundingBox();
    if (!box) throw new Error('There is no heatmap');
    // The upper half: all but the short spans of the large trace and of the hostile one.
    await page.mouse.move(box.x + 2, box.y + 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + box.height * 0.25, { steps: 3 });
    await page.mouse.up();
    await page.waitForURL(/min=\d+&max=\d+|max=\d+/);
    await table.getByRole('link', { name: /^<img/ }).waitFor({ state: 'detached' });
    await table.getByRole('link', { name: 'part-0: step 0' }).waitFor();
    await page.getByRole('button', { name: 'Remove the selected time and duration' }).click();
    await table.getByRole('link', { name: /^<img/ }).waitFor();
    await page.getByLabel('Min duration').fill('500 ms');
    await page.keyboard.press('Enter');
    await page.waitForURL(/min=500000000/);
    await waitForResults(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, 'traces');
  });

  it('lists the operations with the most self time', async () => {
    const page = await browser.signIn(acme.admin, '/traces');
    await page.getByText('Operations by self time').click();
    const table = page.getByRole('table', { name: 'Operations by self time' });
    await table.getByText('GET cards').waitFor();
    await page.getByText(/The 100 of 10,0\d\d operations with the most self time/).waitFor();
    await expectAccessible(page);
    await table.getByRole('button', { name: 'Traces with payments: GET cards' }).click();
    const traces = page.getByRole('table', { name: 'Traces' });
    await traces.getByRole('link').first().waitFor();
    expect(await traces.getByRole('link').allTextContents()).toEqual(['web: POST /checkout']);
  });

  it('shows services, databases and queues, and the traces of an edge', async () => {
    const page = await browser.signIn(acme.admin, '/');
    await page.getByRole('link', { name: 'Service map' }).click();
    const edges = page.getByRole('table', { name: 'Requests between services, databases and queues' });
    await edges.getByRole('link', { name: 'orders → orders (database)' }).waitFor();
    const payments = edges.getByRole('row').filter({ hasText: 'orders → payments' });
    expect(await payments.getByRole('cell').allTextContents()).toEqual(['orders → payments', '1', '100%', '115 ms']);
    await edges.getByRole('link', { name: 'orders → receipts (queue)' }).waitFor();
    await edges.getByRole('link', { name: 'payments → cards.example (external)' }).waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, 'service-map');
    await page.setViewportSize({ width: 1280, height: 900 });
    const graph = page.getByTestId('service-map');
    await graph.getByText('cards.example', { exact: true }).click();
    const traces = page.getByRole('table', { name: 'Traces' });
    await traces.getByRole('link').first().waitFor();
    expect(await traces.getByRole('link').allTextContents()).toEqual(['web: POST /checkout']);
    await page.goBack();
    await edges.getByRole('link', { name: 'orders → payments' }).click();
    await page.getByText('Only traces that also have the service orders: 1 of 1 trace').waitFor();
    await page.goBack();
    await edges.getByRole('link', { name: 'orders → orders (database)' }).click();
    await traces.getByRole('link').first().waitFor();
    expect(await traces.getByRole('link').count()).toBe(1);

    // The condition of the page stays.
    await page.goto(`${browser.server.url}/service-map?where=SpanName:charge`);
    await edges.getByRole('link', { name: 'orders → payments' }).click();
    await traces.getByRole('link').first().waitFor();
    expect(await page.getByLabel('Condition on spans').inputValue()).toBe(
      '(SpanName:charge) AND ServiceName:"payments"',
    );
  });

  it('leads from a row of a dashboard and from an activity to the trace', async () => {
    const body = {
      name: 'Rows',
      tags: [],
      tiles: [
        {
          name: 'rows',
          ...position(0, 0, 24, 8),
          series: [{ type: 'search', sourceId: 'logs', where: '', fields: ['Body', 'TraceId'] }],
        },
      ],
    };
    const { status, json } = await browser.server.call({
      method: 'POST',
      path: '/api/v2/dashboards',
      token: acme.writer,
      body,
    });
    expect(status, JSON.stringify(json)).toBe(200);
    const page = await browser.signIn(acme.admin, `/dashboards/${json.data.id}`);
    await page.getByRole('link', { name: shop }).first().click();
    await row(page, 'POST /checkout').waitFor();

    await browser.server.call({
      method: 'PATCH',
      path: `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`,
      key: acme.admin,
      body: { idleTimeoutMinutes: 25 },
    });
    await page.goto(`${browser.server.url}/activity`);
    const entry = page.getByRole('listitem').filter({ hasText: 'admin changed the' }).first();
    await entry.getByText('admin changed the').click();
    await entry.getByRole('link', { name: 'Trace of the request' }).click();
    await page.waitForURL(/\/traces\/[0-9a-f]{32}\?source=pilothouse-traces/);
    // Requests are written every few seconds, and their logs may be stored before their spans.
    await until(
      async () => {
        const isShown = await row(page, 'PATCH')
          .first()
          .waitFor({ timeout: 5000 })
          .then(
            () => true,
            () => false,
          );
        if (!isShown) await page.reload();
        return isShown;
      },
      (isShown) => isShown,
      'the request has no trace',
    );
  });
});
