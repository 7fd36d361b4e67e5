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
    await until(async () => (await count(body)) >= 604);
  }, ENGINE.timeout);

  const open = (path = '/search', options = {}) => browser.signIn(acme.admin, path, options);
  const table = (page: Page) => page.getByRole('table', { name: 'Rows, newest first' });
  const row = (page: Page, text: string) => table(page).getByRole('row').filter({ hasText: text });
  const progress = (page: Page) => page.getByTestId('progress');
  const panel = (page: Page) => page.getByRole('complementary', { name: 'Row details' });
  const query = (page: Page) => page.getByRole('textbox', { name: 'Query' });

  it('looks right', async () => {
    const page = await open();
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
    void [progress, query];
  });
});
